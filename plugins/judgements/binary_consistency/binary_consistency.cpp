// The judgement "binary_consistency" (二进制一致法): every element has the same value.
#include "judgements/options.hpp"
#include "judgements/relative_sums.hpp"
#include "judgements/sums_measure.hpp"

namespace ulpscope {
namespace {

class BinaryConsistency final : public Judgement {
 public:
  static constexpr const char* kName = "binary_consistency";
  static constexpr const char* kSummary = "every element has exactly the value of golden";
  static constexpr uint32_t kNeedsReference = 0;
  static constexpr ulpscope_metric_desc kMetrics[] = {{"binary_error_rate", -1, 0, "count(d != g) / count"}};
  static constexpr ulpscope_option_desc kOptions[] = {
      {"profile", "seed or msprobe_code", "seed", "msprobe_code: NaN differs from NaN"},
      {"error_rate", "number", "0", "largest rate that passes"}};

  BinaryConsistency(Host, std::string_view options_json)
      : options_(kName, options_json, kOptions), limit_(options_.number("error_rate", 0)) {
    options_.profile();
  }

  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    return are_numbers(pair, why_not);
  }

  std::unique_ptr<Measure> begin(const ulpscope_pair&) const override {
    const NonfiniteRule rule = options_.profile() == LimitProfile::seed ? NonfiniteRule::equal_is_equal
                                                                        : NonfiniteRule::never_within;
    return std::make_unique<SumsMeasure<EqualitySums>>(EqualitySums(rule), &write);
  }

  void judge(const ulpscope_pair&, const ulpscope_metric* metrics, const ulpscope_metric*,
             ulpscope_verdict& out) const override {
    VerdictBuilder verdict(out);
    decide_rate(verdict, metrics, 0, kMetrics[0].name, limit_);
  }

 private:
  static void write(const EqualitySums& sums, ulpscope_measurement& out) { set(out, 0, sums.error_rate()); }

  JudgementOptions options_;
  double limit_ = 0;
};

}  // namespace
}  // namespace ulpscope

ULPSCOPE_PLUGIN("binary_consistency", "0.1.0", "ulpscope", "Apache-2.0",
                ULPSCOPE_COMPONENT_JUDGEMENT(ulpscope::BinaryConsistency));
