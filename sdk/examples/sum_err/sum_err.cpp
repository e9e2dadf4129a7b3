// A judgement: the sum of all absolute differences of a pair, and a limit for it.
#include <ulpscope/elementwise.hpp>
#include <ulpscope/plugin.hpp>

#include <cmath>

namespace {

// sum_abs_err = sum over all elements of |actual - golden|, in the order of elementwise.hpp, so that it has
// the same bits however the data is cut into chunks.
class SumErrMeasure final : public ulpscope::Measure {
 public:
  void consume(const ulpscope_view& actual, const ulpscope_view& golden) override {
    ulpscope::visit_blocks(actual, golden, [this](const ulpscope::PairBlock& block) {
      sum_ += ulpscope::lane_sum(block, [](double a, double g) { return std::fabs(a - g); });
    });
  }
  void merge(const ulpscope::Measure& next_part) override {
    sum_ += static_cast<const SumErrMeasure&>(next_part).sum_;
  }
  void finish(ulpscope_measurement& out) const override { ulpscope::set(out, 0, sum_); }

 private:
  double sum_ = 0;
};

class SumErr final : public ulpscope::Judgement {
 public:
  static constexpr const char* kName = "sum_err";
  static constexpr const char* kSummary = "sum of absolute differences, at most 1e-3";
  static constexpr ulpscope_metric_desc kMetrics[] = {{"sum_abs_err", -1, 0, "sum |actual - golden|"}};
  static constexpr uint32_t kNeedsReference = 0;

  SumErr(ulpscope::Host, std::string_view options_json) {
    if (options_json != "{}" && !options_json.empty())
      throw ulpscope::Failure(ULPSCOPE_E_USAGE, "sum_err has no options, expected {}");
  }

  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    why_not = "packed and opaque elements have no value";
    return ulpscope::is_widenable(static_cast<ulpscope::DType>(pair.actual_dtype)) &&
           ulpscope::is_widenable(static_cast<ulpscope::DType>(pair.golden_dtype));
  }
  std::unique_ptr<ulpscope::Measure> begin(const ulpscope_pair&) const override {
    return std::make_unique<SumErrMeasure>();
  }
  void judge(const ulpscope_pair&, const ulpscope_metric* metrics, const ulpscope_metric*,
             ulpscope_verdict& out) const override {
    // Written so that a NaN fails.
    const bool is_good = metrics[0].available != 0 && metrics[0].value <= kLimit;
    out.overall = out.per_metric[0] = is_good ? ULPSCOPE_PASS : ULPSCOPE_FAIL;
  }

 private:
  static constexpr double kLimit = 1e-3;
};

}  // namespace

ULPSCOPE_PLUGIN("sum_err", "0.1.0", "example", "MIT", ULPSCOPE_COMPONENT_JUDGEMENT(SumErr));
