// The judgement "absolute_threshold" (绝对阈值法): no element may be off by more than its type allows.
#include "judgements/error_sums.hpp"
#include "judgements/options.hpp"
#include "judgements/sums_measure.hpp"

namespace ulpscope {
namespace {

class AbsoluteThreshold final : public Judgement {
 public:
  static constexpr const char* kName = "absolute_threshold";
  static constexpr const char* kSummary = "no element beyond the relative or absolute error of its type";
  static constexpr uint32_t kNeedsReference = 0;
  static constexpr ulpscope_metric_desc kMetrics[] = {
      {"inf_nan_error_rate", -1, 0, "share of infinite and NaN elements that do not agree"},
      {"relative_error_rate", -1, 0, "count(normal and e / (|g| + epsilon) > rtol) / count(normal)"},
      {"absolute_error_rate", -1, 0, "count(small and e > small_value_atol) / count(small)"}};
  static constexpr ulpscope_option_desc kOptions[] = {
      {"profile", "seed or msprobe_code", "seed", "whose limits of the types"},
      {"inf_nan_error_rate", "number", "0", "largest rate that passes"},
      {"relative_error_rate", "number", "0", "largest rate that passes"},
      {"absolute_error_rate", "number", "0", "largest rate that passes"},
      {"float32_small_value", "number", "2^-14", "|golden| up to this is a small value"},
      {"float32_small_value_atol", "number", "2^-30", "error of a small value that counts"},
      {"float32_rtol", "number", "2^-20", "relative error of any other value that counts"},
      {"float16_small_value", "number", "2^-11", "as for float32"},
      {"float16_small_value_atol", "number", "2^-16", "as for float32"},
      {"float16_rtol", "number", "2^-10", "as for float32"},
      {"bfloat16_small_value", "number", "2^-8", "as for float32"},
      {"bfloat16_small_value_atol", "number", "2^-16", "as for float32"},
      {"bfloat16_rtol", "number", "2^-8", "as for float32"},
      {"other_small_value", "number", "2^-14", "for types that are not named here"},
      {"other_small_value_atol", "number", "2^-30", "for types that are not named here"},
      {"other_rtol", "number", "2^-20", "for types that are not named here"}};

  AbsoluteThreshold(Host, std::string_view options_json) : options_(kName, options_json, kOptions) {
    for (const DType t : {DType::f32, DType::f16, DType::bf16, DType::none}) error_limits(t);
    for (uint32_t i = 0; i < 3; ++i) rates_[i] = options_.number(kMetrics[i].name, 0);
  }

  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    return are_floating(pair, why_not);
  }

  std::unique_ptr<Measure> begin(const ulpscope_pair& pair) const override {
    const auto device = static_cast<DType>(pair.actual_dtype);
    return std::make_unique<SumsMeasure<ErrorSums>>(
        ErrorSums(error_limits(device), device, static_cast<DType>(pair.golden_dtype)), &write);
  }

  void judge(const ulpscope_pair&, const ulpscope_metric* metrics, const ulpscope_metric*,
             ulpscope_verdict& out) const override {
    VerdictBuilder verdict(out);
    for (uint32_t i = 0; i < 3; ++i) decide_rate(verdict, metrics, i, kMetrics[i].name, rates_[i]);
  }

 private:
  ErrorLimits error_limits(DType device) const {
    const TypeLimits limits = type_limits(options_.profile(), limit_class(device));
    return {options_.of_type(device, "small_value", limits.small_value),
            options_.of_type(device, "small_value_atol", limits.small_value_atol_absolute),
            options_.of_type(device, "rtol", limits.rtol)};
  }

  static void write(const ErrorSums& sums, ulpscope_measurement& out) {
    set(out, 0, sums.inf_nan_error_rate());
    set(out, 1, sums.relative_error_rate());
    set(out, 2, sums.small_value_error_rate());
  }

  JudgementOptions options_;
  double rates_[3] = {};
};

}  // namespace
}  // namespace ulpscope

ULPSCOPE_PLUGIN("absolute_threshold", "0.1.0", "ulpscope", "Apache-2.0",
                ULPSCOPE_COMPONENT_JUDGEMENT(ulpscope::AbsoluteThreshold));
