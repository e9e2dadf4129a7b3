// A judgement: how many elements are further off than a limit. Replace the formula by yours; README.md says
// what there is.
#include <ulpscope/elementwise.hpp>
#include <ulpscope/plugin.hpp>

#include <cmath>
#include <cstdlib>
#include <string>

namespace {

// Adds up over the elements. Blocks come in order; two parts that were measured apart are merged in order, so
// that the result has the same bits however a tensor is cut.
class MyPluginMeasure final : public ulpscope::Measure {
 public:
  void consume(const ulpscope_view& actual, const ulpscope_view& golden) override {
    ulpscope::visit_blocks(actual, golden, [this](const ulpscope::PairBlock& block) {
      // Written so that a NaN counts as off.
      off_ += ulpscope::lane_sum(block, [](double a, double g) {
        return a == g || std::fabs(a - g) <= kRelative * std::fabs(g) ? 0.0 : 1.0;
      });
    });
    count_ += static_cast<double>(actual.count);
  }
  void merge(const ulpscope::Measure& next_part) override {
    off_ += static_cast<const MyPluginMeasure&>(next_part).off_;
    count_ += static_cast<const MyPluginMeasure&>(next_part).count_;
  }
  // A metric that does not exist is left unset, never 0.
  void finish(ulpscope_measurement& out) const override {
    if (count_ > 0) ulpscope::set(out, 0, off_ / count_);
  }

 private:
  static constexpr double kRelative = 1e-3;
  double off_ = 0, count_ = 0;
};

class MyPlugin final : public ulpscope::Judgement {
 public:
  static constexpr const char* kName = "my_plugin";
  static constexpr const char* kSummary = "few elements are off by more than a thousandth";
  static constexpr ulpscope_metric_desc kMetrics[] = {{"off_rate", -1, 0, "share of |a - g| > 0.001 |g|"}};
  static constexpr ulpscope_option_desc kOptions[] = {
      {"limit", "number", "0.01", "passes with a share up to it"}};
  static constexpr uint32_t kNeedsReference = 0;

  // Options are a JSON object. What is not understood is refused, so that a typing error of a policy is
  // found.
  MyPlugin(ulpscope::Host, std::string_view options_json) {
    const std::string text(options_json), start = "{\"limit\":";
    std::string dense;
    for (const char c : text)
      if (c != ' ' && c != '\n') dense += c;
    if (dense.empty() || dense == "{}") return;
    char* end = nullptr;
    if (dense.rfind(start, 0) == 0) limit_ = std::strtod(dense.c_str() + start.size(), &end);
    const bool is_number = end != nullptr && end != dense.c_str() + start.size() && std::string(end) == "}";
    if (!is_number || !(limit_ >= 0) || limit_ > 1)
      throw ulpscope::Failure(ULPSCOPE_E_USAGE,
                              "options " + text + ", expected {\"limit\": NUMBER} from 0 to 1");
  }

  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    why_not = "packed and opaque elements have no value";
    return ulpscope::is_widenable(static_cast<ulpscope::DType>(pair.actual_dtype)) &&
           ulpscope::is_widenable(static_cast<ulpscope::DType>(pair.golden_dtype));
  }
  std::unique_ptr<ulpscope::Measure> begin(const ulpscope_pair&) const override {
    return std::make_unique<MyPluginMeasure>();
  }
  // A function of the numbers alone: it also judges tables without tensors. Written so that a NaN fails.
  void judge(const ulpscope_pair&, const ulpscope_metric* metrics, const ulpscope_metric*,
             ulpscope_verdict& out) const override {
    if (metrics[0].available == 0) return;  // skip: nothing was measured
    out.overall = out.per_metric[0] = metrics[0].value <= limit_ ? ULPSCOPE_PASS : ULPSCOPE_FAIL;
  }

 private:
  double limit_ = 0.01;
};

}  // namespace

ULPSCOPE_PLUGIN("my_plugin", "0.1.0", "me", "Apache-2.0", ULPSCOPE_COMPONENT_JUDGEMENT(MyPlugin));
