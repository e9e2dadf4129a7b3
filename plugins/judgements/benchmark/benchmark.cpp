// The judgement "benchmark" (标杆比对法): the errors of two devices against one golden, as ratios.
#include <string>

#include "base/text.hpp"
#include "judgements/error_sums.hpp"
#include "judgements/options.hpp"
#include "judgements/sums_measure.hpp"

namespace ulpscope {
namespace {

enum Metric : uint32_t { small_value, rmse, max_relative, mean_relative, balance };
constexpr uint32_t kDeciding = 4;  // balance is shown, not decisive
constexpr uint32_t kMetricCount = 5;

// Largest ratio device / reference by guard level. Source: the published standard of offline pre-checks.
struct RatioLimits {
  double of[kMetricCount];
};
constexpr RatioLimits kLevels[] = {{{2, 2, 10, 2, 2}}, {{2, 1.5, 5, 1.5, 2}}, {{2, 1.2, 2, 1.2, 2}}};

class Benchmark final : public Judgement {
 public:
  static constexpr const char* kName = "benchmark";
  static constexpr const char* kSummary =
      "errors of the device over those of a reference device, both against one golden";
  static constexpr uint32_t kNeedsReference = 1;
  static constexpr ulpscope_metric_desc kMetrics[] = {
      {"small_value_error_rate", -1, 0, "count(small and e > small_value_atol) / count(small)"},
      {"rmse", -1, 0, "sqrt(s (N / (N - m + 1e-4) + 1e-4)), s = mean of e^2 over normal elements"},
      {"max_relative_error", -1, 0, "max of e / (|g| + epsilon) over normal elements"},
      {"mean_relative_error", -1, 0, "mean of e / (|g| + epsilon) over normal elements"},
      {"error_balance", -1, 0, "|count(d > g) - count(d < g)| / count; shown, not decisive"}};
  static constexpr ulpscope_option_desc kOptions[] = {
      {"profile", "seed or msprobe_code", "seed", "whose small-value limits"},
      {"level", "L0, L1 or L2", "L0", "guard level: how large the ratios may be"},
      {"small_value_error_rate", "number", "by level", "largest ratio of that metric"},
      {"rmse", "number", "by level", "largest ratio of that metric"},
      {"max_relative_error", "number", "by level", "largest ratio of that metric"},
      {"mean_relative_error", "number", "by level", "largest ratio of that metric"},
      {"error_balance", "number", "by level", "ratio of that metric that is shown as too large"},
      {"float32_small_value", "number", "2^-14", "|golden| up to this is a small value"},
      {"float32_small_value_atol", "number", "2^-30", "error of a small value that counts"},
      {"float32_ratio_floor", "number", "2^-14", "least denominator of a ratio"},
      {"float16_small_value", "number", "2^-11", "as for float32"},
      {"float16_small_value_atol", "number", "2^-16", "as for float32"},
      {"float16_ratio_floor", "number", "2^-11", "as for float32"},
      {"bfloat16_small_value", "number", "2^-8", "as for float32"},
      {"bfloat16_small_value_atol", "number", "2^-16", "as for float32"},
      {"bfloat16_ratio_floor", "number", "2^-8", "as for float32"},
      {"other_small_value", "number", "2^-14", "for types that are not named here"},
      {"other_small_value_atol", "number", "2^-30", "for types that are not named here"},
      {"other_ratio_floor", "number", "2^-14", "for types that are not named here"}};

  Benchmark(Host, std::string_view options_json) : options_(kName, options_json, kOptions) {
    const std::string level = options_.choice("level", {"L0", "L1", "L2"});
    limits_ = kLevels[level[1] - '0'];
    for (uint32_t i = 0; i < kMetricCount; ++i)
      limits_.of[i] = options_.number(kMetrics[i].name, limits_.of[i]);
    for (const DType t : {DType::f32, DType::f16, DType::bf16, DType::none}) {
      error_limits(t);
      options_.ratio_floor(t);
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

  void judge(const ulpscope_pair& pair, const ulpscope_metric* metrics, const ulpscope_metric* reference,
             ulpscope_verdict& out) const override {
    VerdictBuilder verdict(out);
    if (reference == nullptr) {
      verdict.say("there is no reference device to compare with");
      return;
    }
    const double floor = options_.ratio_floor(static_cast<DType>(pair.actual_dtype));
    bool incomplete = false;
    for (uint32_t i = 0; i < kMetricCount; ++i) {
      const int32_t one = judge_metric(i, metrics[i], reference[i], floor, verdict);
      verdict.set(i, one);
      incomplete = incomplete || metrics[i].available == 0 || reference[i].available == 0;
      if (i < kDeciding && one == ULPSCOPE_FAIL) verdict.decide(one);
    }
    // A metric that could not be compared is never part of a pass.
    if (!incomplete) verdict.decide(ULPSCOPE_PASS);
  }

 private:
  ErrorLimits error_limits(DType device) const {
    const TypeLimits limits = type_limits(options_.profile(), limit_class(device));
    return {options_.of_type(device, "small_value", limits.small_value),
            options_.of_type(device, "small_value_atol", limits.small_value_atol_benchmark), limits.rtol};
  }

  int32_t judge_metric(uint32_t i, const ulpscope_metric& device, const ulpscope_metric& reference,
                       double floor, VerdictBuilder& verdict) const {
    const std::string name = kMetrics[i].name;
    if (device.available == 0) {
      verdict.say(name + " of the device is missing");
      return i < kDeciding ? ULPSCOPE_FAIL : ULPSCOPE_SKIP;
    }
    if (reference.available == 0) {
      verdict.say(name + " of the reference is missing");
      return ULPSCOPE_SKIP;
    }
    const MetricRatio ratio = metric_ratio(device.value, reference.value, floor);
    if (ratio.kind == RatioKind::consistent) {
      verdict.say(name + " is not finite on either device, and the same");
      return ULPSCOPE_PASS;
    }
    if (ratio.kind == RatioKind::inconsistent) {
      verdict.say(name + " is not finite on one device alone, or not the same");
      return ULPSCOPE_FAIL;
    }
    if (ratio.value <= limits_.of[i]) return ULPSCOPE_PASS;
    verdict.say("ratio of " + name + " " + number_text(ratio.value) + " > " + number_text(limits_.of[i]));
    return ULPSCOPE_FAIL;
  }

  static void write(const ErrorSums& sums, ulpscope_measurement& out) {
    set(out, small_value, sums.small_value_error_rate());
    set(out, rmse, sums.rmse());
    set(out, max_relative, sums.max_relative_error());
    set(out, mean_relative, sums.mean_relative_error());
    set(out, balance, sums.error_balance());
  }

  JudgementOptions options_;
  RatioLimits limits_ = kLevels[0];
};

}  // namespace
}  // namespace ulpscope

ULPSCOPE_PLUGIN("benchmark", "0.1.0", "ulpscope", "Apache-2.0",
                ULPSCOPE_COMPONENT_JUDGEMENT(ulpscope::Benchmark));
