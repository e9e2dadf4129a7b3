// The judgement "double_thousandth" (双千指标法): nearly all elements are within a thousandth of golden.
#include <string>

#include "base/text.hpp"
#include "judgements/options.hpp"
#include "judgements/relative_sums.hpp"
#include "judgements/sums_measure.hpp"

namespace ulpscope {
namespace {

// Source: the published standard. It says "more than", the code of msprobe "at least".
constexpr double kShare = 0.999;

class DoubleThousandth final : public Judgement {
 public:
  static constexpr const char* kName = "double_thousandth";
  static constexpr const char* kSummary = "more than 99.9 % of the elements within a relative error of 0.001";
  static constexpr uint32_t kNeedsReference = 0;
  static constexpr ulpscope_metric_desc kMetrics[] = {
      {"ratio_within_0.001", 1, 0, "count(e / (|g| + epsilon) < 0.001) / count"}};
  static constexpr ulpscope_option_desc kOptions[] = {
      {"profile", "seed or msprobe_code", "seed",
       "msprobe_code: exactly the share passes too, and equal NaN or infinities are not within"},
      {"pass_at_least", "number", "0.999", "the share of elements"}};

  DoubleThousandth(Host, std::string_view options_json)
      : options_(kName, options_json, kOptions), share_(options_.number("pass_at_least", kShare)) {
    if (share_ > 1)
      throw Failure(ULPSCOPE_E_USAGE, "double_thousandth: option 'pass_at_least': expected at most 1");
    options_.profile();
  }

  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    return are_floating(pair, why_not);
  }

  std::unique_ptr<Measure> begin(const ulpscope_pair& pair) const override {
    const NonfiniteRule rule = is_seed() ? NonfiniteRule::equal_is_equal : NonfiniteRule::never_within;
    return std::make_unique<SumsMeasure<RelativeSums>>(
        RelativeSums(rule, static_cast<DType>(pair.actual_dtype), static_cast<DType>(pair.golden_dtype)),
        &write);
  }

  void judge(const ulpscope_pair&, const ulpscope_metric* metrics, const ulpscope_metric*,
             ulpscope_verdict& out) const override {
    VerdictBuilder verdict(out);
    if (metrics[0].available == 0) {
      verdict.decide(0, ULPSCOPE_FAIL);
      verdict.say(std::string(kMetrics[0].name) + " is missing");
      return;
    }
    const double share = metrics[0].value;
    // A share of 1 is everything: it passes whatever is asked for.
    const bool good = share > share_ || share == 1 || (!is_seed() && share >= share_);
    verdict.decide(0, good ? ULPSCOPE_PASS : ULPSCOPE_FAIL);
    if (!good)
      verdict.say(std::string(kMetrics[0].name) + " " + number_text(share) + ", needed " +
                  (is_seed() ? "more than " : "at least ") + number_text(share_));
  }

 private:
  bool is_seed() const { return options_.profile() == LimitProfile::seed; }
  static void write(const RelativeSums& sums, ulpscope_measurement& out) {
    set(out, 0, sums.within(RelativeSums::thousandth));
  }

  JudgementOptions options_;
  double share_ = kShare;
};

}  // namespace
}  // namespace ulpscope

ULPSCOPE_PLUGIN("double_thousandth", "0.1.0", "ulpscope", "Apache-2.0",
                ULPSCOPE_COMPONENT_JUDGEMENT(ulpscope::DoubleThousandth));
