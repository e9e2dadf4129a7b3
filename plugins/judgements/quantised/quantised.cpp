// The judgement "quantised": integers that come from rounding, which may be off by one.
#include "judgements/options.hpp"
#include "judgements/relative_sums.hpp"
#include "judgements/sums_measure.hpp"

namespace ulpscope {
namespace {

class Quantised final : public Judgement {
 public:
  static constexpr const char* kName = "quantised";
  static constexpr const char* kSummary = "integer outputs of a quantisation, off by at most one";
  static constexpr uint32_t kNeedsReference = 0;
  static constexpr ulpscope_metric_desc kMetrics[] = {{"max_abs_error", -1, 0, "max |d - g|, exact"}};
  static constexpr ulpscope_option_desc kOptions[] = {
      {"max_abs_error", "number", "1", "largest difference that passes"}};

  Quantised(Host, std::string_view options_json)
      : limit_(JudgementOptions(kName, options_json, kOptions).number("max_abs_error", 1)) {}

  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    for (const int32_t t : {pair.actual_dtype, pair.golden_dtype}) {
      if (is_exact_integer(static_cast<DType>(t))) continue;
      why_not = std::string("elements of type ") + name(static_cast<DType>(t)) + " are no integers";
      return false;
    }
    return true;
  }

  std::unique_ptr<Measure> begin(const ulpscope_pair&) const override {
    return std::make_unique<SumsMeasure<EqualitySums>>(EqualitySums(NonfiniteRule::equal_is_equal), &write);
  }

  void judge(const ulpscope_pair&, const ulpscope_metric* metrics, const ulpscope_metric*,
             ulpscope_verdict& out) const override {
    VerdictBuilder verdict(out);
    decide_rate(verdict, metrics, 0, kMetrics[0].name, limit_);
  }

 private:
  static void write(const EqualitySums& sums, ulpscope_measurement& out) {
    set(out, 0, sums.max_abs_error());
  }

  double limit_ = 1;
};

}  // namespace
}  // namespace ulpscope

ULPSCOPE_PLUGIN("quantised", "0.1.0", "ulpscope", "Apache-2.0",
                ULPSCOPE_COMPONENT_JUDGEMENT(ulpscope::Quantised));
