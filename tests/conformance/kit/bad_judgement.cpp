// A judgement that breaks one rule of the contract, named by the variable
// ULPSCOPE_TEST_FAULT, and keeps all others.
#include <ulpscope/elementwise.hpp>
#include <ulpscope/plugin.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

const std::string_view kFault = [] {
  const char* fault = std::getenv("ULPSCOPE_TEST_FAULT");
  return std::string_view(fault == nullptr ? "none" : fault);
}();

class BadMeasure final : public ulpscope::Measure {
 public:
  void consume(const ulpscope_view& actual, const ulpscope_view& golden) override {
    if (kFault == "crash" && actual.count == 1) std::abort();
    if (kFault == "loud") std::puts("hello from a judgement");
    double sum = 0;
    ulpscope::visit_blocks(actual, golden, [&sum](const ulpscope::PairBlock& block) {
      sum += ulpscope::lane_sum(block, [](double a, double g) { return std::fabs(a - g); });
    });
    // Broken: the square of what a chunk adds depends on where chunks end.
    sum_ += kFault == "chunks" ? sum * sum : sum;
    count_ += static_cast<double>(actual.count);
  }
  void merge(const ulpscope::Measure& next_part) override {
    count_ += static_cast<const BadMeasure&>(next_part).count_;
    if (kFault != "merge") sum_ += static_cast<const BadMeasure&>(next_part).sum_;
  }
  void finish(ulpscope_measurement& out) const override {
    if (count_ > 0) ulpscope::set(out, 0, kFault == "equal" ? sum_ + 1 : sum_);
    if (kFault.substr(0, 5) == "worst") {
      out.worst[0] = {kFault == "worstfar" ? uint64_t{1} << 40 : 5, 2.5, 2, 0.5};
      out.worst_count = 1;
    }
  }

 private:
  double sum_ = 0, count_ = 0;
};

int verdicts = 0;

class BadJudgement final : public ulpscope::Judgement {
 public:
  static constexpr const char* kName = "bad_judgement";
  static constexpr const char* kSummary = "breaks one rule";
  static constexpr ulpscope_metric_desc kMetrics[] = {{"sum", -1, 0, "sum |a - g|"}};
  static constexpr uint32_t kNeedsReference = 0;

  BadJudgement(ulpscope::Host, std::string_view options_json) {
    if (kFault != "options" && options_json != "{}" && !options_json.empty())
      throw ulpscope::Failure(ULPSCOPE_E_USAGE, "no options are known, expected {}");
  }
  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    why_not = "floating types only";
    return ulpscope::is_floating(static_cast<ulpscope::DType>(pair.actual_dtype)) &&
           ulpscope::is_widenable(static_cast<ulpscope::DType>(pair.golden_dtype));
  }
  std::unique_ptr<ulpscope::Measure> begin(const ulpscope_pair&) const override {
    return std::make_unique<BadMeasure>();
  }
  void judge(const ulpscope_pair&, const ulpscope_metric* metrics, const ulpscope_metric*,
             ulpscope_verdict& out) const override {
    if (metrics[0].available == 0 && kFault != "missing") return;
    const bool is_good = kFault == "nan" ? !(metrics[0].value > 0.5) : metrics[0].value <= 0.5;
    const bool turned = kFault == "twice" && ++verdicts % 2 == 0;
    out.overall = out.per_metric[0] = is_good != turned ? ULPSCOPE_PASS : ULPSCOPE_FAIL;
  }
};

}  // namespace

ULPSCOPE_PLUGIN("bad_judgement", "0.1.0", "test", "Apache-2.0", ULPSCOPE_COMPONENT_JUDGEMENT(BadJudgement));
