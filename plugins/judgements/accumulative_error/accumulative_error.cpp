// The judgement "accumulative_error" (累积误差比对法): the absolute threshold method with the wide limits of
// a long sum, and no bias.
#include "judgements/error_sums.hpp"
#include "judgements/options.hpp"
#include "judgements/sums_measure.hpp"

namespace ulpscope {
namespace {

enum Metric : uint32_t { inf_nan, relative, absolute, balance };

class AccumulativeError final : public Judgement {
 public:
  static constexpr const char* kName = "accumulative_error";
  static constexpr const char* kSummary = "errors of long sums: no element beyond its bound, and no bias";
  static constexpr uint32_t kNeedsReference = 0;
  static constexpr ulpscope_metric_desc kMetrics[] = {
      {"inf_nan_error_rate", -1, 0, "share of infinite and NaN elements that do not agree"},
      {"relative_error_rate", -1, 0, "count(normal and e / (|g| + epsilon) > bound) / count(normal)"},
      {"absolute_error_rate", -1, 0, "count(small and e > bound) / count(small)"},
      {"error_balance", -1, 0, "|count(d > g) - count(d < g)| / count"}};
  static constexpr ulpscope_option_desc kOptions[] = {
      {"small_value", "number", "1", "|golden| up to this is a small value"},
      {"float32_bound", "number", "2^-11", "relative error, and absolute error of small values, that counts"},
      {"float16_bound", "number", "2^-8", "as for float32"},
      {"bfloat16_bound", "number", "2^-7", "as for float32"},
      {"other_bound", "number", "2^-11", "for types that are not named here"},
      {"float32_error_balance", "number", "2^-14", "largest error balance that passes"},
      {"float16_error_balance", "number", "2^-20", "as for float32"},
      {"bfloat16_error_balance", "number", "2^-7", "as for float32"},
      {"other_error_balance", "number", "2^-14", "for types that are not named here"}};

  AccumulativeError(Host, std::string_view options_json) : options_(kName, options_json, kOptions) {
    for (const DType t : {DType::f32, DType::f16, DType::bf16, DType::none}) {
      error_limits(t);
      balance_limit(t);
    }
  }

  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    return are_floating(pair, why_not);
  }

  std::unique_ptr<Measure> begin(const ulpscope_pair& pair) const override {
    const auto device = static_cast<DType>(pair.actual_dtype);
    return std::make_unique<SumsMeasure<ErrorSums>>(
        ErrorSums(error_limits(device), device, static_cast<DType>(pair.golden_dtype)), &write);
  }

  void judge(const ulpscope_pair& pair, const ulpscope_metric* metrics, const ulpscope_metric*,
             ulpscope_verdict& out) const override {
    VerdictBuilder verdict(out);
    for (const uint32_t i : {inf_nan, relative, absolute})
      decide_rate(verdict, metrics, i, kMetrics[i].name, 0);
    decide_rate(verdict, metrics, balance, kMetrics[balance].name,
                balance_limit(static_cast<DType>(pair.actual_dtype)));
  }

 private:
  ErrorLimits error_limits(DType device) const {
    const AccumulativeLimits limits = accumulative_limits(limit_class(device));
    const double bound = options_.of_type(device, "bound", limits.bound);
    return {options_.number("small_value", limits.small_value), bound, bound};
  }
  double balance_limit(DType device) const {
    return options_.of_type(device, "error_balance", accumulative_limits(limit_class(device)).error_balance);
  }

  static void write(const ErrorSums& sums, ulpscope_measurement& out) {
    set(out, inf_nan, sums.inf_nan_error_rate());
    set(out, relative, sums.relative_error_rate());
    set(out, absolute, sums.small_value_error_rate());
    set(out, balance, sums.error_balance());
  }

  JudgementOptions options_;
};

}  // namespace
}  // namespace ulpscope

ULPSCOPE_PLUGIN("accumulative_error", "0.1.0", "ulpscope", "Apache-2.0",
                ULPSCOPE_COMPONENT_JUDGEMENT(ulpscope::AccumulativeError));
