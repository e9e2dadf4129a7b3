// The judgement "ulp" (ULP误差比对法): errors in units of the last place of the device type.
#include <cmath>
#include <string>

#include "base/text.hpp"
#include "judgements/options.hpp"
#include "judgements/sums_measure.hpp"
#include "judgements/ulp_sums.hpp"

namespace ulpscope {
namespace {

enum Metric : uint32_t { mean_ulp, over_rate, max_ulp };

class Ulp final : public Judgement {
 public:
  static constexpr const char* kName = "ulp";
  static constexpr const char* kSummary = "errors in units of the last place of the device type";
  static constexpr uint32_t kNeedsReference = 2;
  static constexpr ulpscope_metric_desc kMetrics[] = {
      {"mean_ulp", -1, 0, "mean of |d - g| 2^(mantissa_bits - floor(log2 |g|))"},
      {"ulp_over_threshold_rate", -1, 0, "share of elements above the threshold of the type"},
      {"max_ulp", -1, 0, "max of |d - g| 2^(mantissa_bits - floor(log2 |g|))"}};
  static constexpr ulpscope_option_desc kOptions[] = {
      {"profile", "seed or msprobe_code", "seed",
       "msprobe_code: golden 0 has exponent 0, and the rates are compared by their ratio with a floor"},
      {"float32_mean_ulp", "number", "64", "float32 passes with a mean below it"},
      {"float32_over_rate", "number", "0.05", "float32 passes with a rate below it"},
      {"float16_over_rate", "number", "0.001", "float16 passes with a rate below it"},
      {"bfloat16_over_rate", "number", "0.001", "bfloat16 passes with a rate below it"},
      {"float8_over_rate", "number", "0.001", "8-bit formats pass with a rate below it"},
      {"over_rate_ratio", "number", "1", "passes with a rate below so many times that of the reference"},
      {"float32_over_threshold", "number", "32", "errors above so many units are counted"},
      {"float16_over_threshold", "number", "1", "as for float32"},
      {"bfloat16_over_threshold", "number", "1", "as for float32"},
      {"float8_over_threshold", "number", "1", "as for float32"},
      {"float32_ratio_floor", "number", "2^-14", "of msprobe_code: least denominator of the ratio"},
      {"float16_ratio_floor", "number", "2^-11", "as for float32"},
      {"bfloat16_ratio_floor", "number", "2^-8", "as for float32"},
      {"other_ratio_floor", "number", "2^-14", "for types that are not named here"}};

  Ulp(Host, std::string_view options_json) : options_(kName, options_json, kOptions) {
    // Every option is read once, so that a wrong one is refused now.
    for (const DType t : {DType::f32, DType::f16, DType::bf16, DType::f8_e5m2}) {
      rules(t);
      rate_limit(t);
      options_.ratio_floor(t);
    }
    mean_limit();
    options_.number("over_rate_ratio", 1);
  }

  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    if (!are_floating(pair, why_not)) return false;
    why_not = "float8_e8m0fnu has no mantissa";
    return static_cast<DType>(pair.actual_dtype) != DType::f8_e8m0;
  }

  std::unique_ptr<Measure> begin(const ulpscope_pair& pair) const override {
    return std::make_unique<SumsMeasure<UlpSums>>(UlpSums(rules(static_cast<DType>(pair.actual_dtype))),
                                                  &write);
  }

  void judge(const ulpscope_pair& pair, const ulpscope_metric* metrics, const ulpscope_metric* reference,
             ulpscope_verdict& out) const override {
    VerdictBuilder verdict(out);
    for (const uint32_t i : {mean_ulp, over_rate}) {
      if (metrics[i].available != 0) continue;
      verdict.decide(i, ULPSCOPE_FAIL);
      verdict.say(std::string(kMetrics[i].name) + " is missing");
    }
    if (metrics[mean_ulp].available == 0 || metrics[over_rate].available == 0) return;
    if (reference != nullptr && !agree(metrics, reference, verdict)) {
      verdict.decide(ULPSCOPE_FAIL);
      return;
    }
    const auto device = static_cast<DType>(pair.actual_dtype);
    if (passes(device, metrics, reference)) {
      verdict.decide(over_rate, ULPSCOPE_PASS);
      return;
    }
    verdict.decide(over_rate, ULPSCOPE_FAIL);
    verdict.say(kind(device) == Kind::wide
                    ? "mean_ulp " + number_text(metrics[mean_ulp].value) + ", needed below " +
                          number_text(mean_limit()) + ", or a rate below " + number_text(rate_limit(device))
                    : "ulp_over_threshold_rate " + number_text(metrics[over_rate].value) + ", needed below " +
                          number_text(rate_limit(device)));
    if (kind(device) != Kind::tapered && reference == nullptr)
      verdict.say("no reference to compare the rate with");
  }

 private:
  enum class Kind : uint8_t { wide, half, brain, tapered };  // float32 and wider, float16, bfloat16, 8 bits

  static Kind kind(DType device) {
    if (ulp_format(device).tapered) return Kind::tapered;
    const LimitClass type = limit_class(device);
    return type == LimitClass::float16 ? Kind::half : type == LimitClass::bfloat16 ? Kind::brain : Kind::wide;
  }
  static std::string option_name(DType device, const char* limit) {
    constexpr const char* kPrefixes[] = {"float32_", "float16_", "bfloat16_", "float8_"};
    return std::string(kPrefixes[static_cast<size_t>(kind(device))]) + limit;
  }

  UlpSums::Rules rules(DType device) const {
    UlpSums::Rules rules = UlpSums::rules(options_.profile(), device);
    rules.format.over_threshold =
        options_.number(option_name(device, "over_threshold"), rules.format.over_threshold);
    return rules;
  }
  double mean_limit() const { return options_.number("float32_mean_ulp", 64); }
  double rate_limit(DType device) const {
    return options_.number(option_name(device, "over_rate"), kind(device) == Kind::wide ? 0.05 : 0.001);
  }

  // Whether what is not finite is the same on both devices.
  static bool agree(const ulpscope_metric* metrics, const ulpscope_metric* reference,
                    VerdictBuilder& verdict) {
    bool all = true;
    for (const uint32_t i : {mean_ulp, over_rate}) {
      if (reference[i].available == 0) continue;
      const RatioKind found = metric_ratio(metrics[i].value, reference[i].value, 1).kind;
      if (found == RatioKind::finite) continue;
      const bool same = found == RatioKind::consistent;
      verdict.say(std::string(kMetrics[i].name) +
                  (same ? " is not finite on either device, and the same"
                        : " is not finite on one device alone, or not the same"));
      all = all && same;
    }
    return all;
  }

  // mean below its limit (float32 only), or rate below its limit, or rate below that of the reference.
  bool passes(DType device, const ulpscope_metric* metrics, const ulpscope_metric* reference) const {
    const double rate = metrics[over_rate].value;
    if (kind(device) == Kind::wide && metrics[mean_ulp].value < mean_limit()) return true;
    if (rate < rate_limit(device)) return true;
    if (kind(device) == Kind::tapered || reference == nullptr || reference[over_rate].available == 0)
      return false;
    const double factor = options_.number("over_rate_ratio", 1);
    if (options_.profile() == LimitProfile::seed) return rate < factor * reference[over_rate].value;
    return metric_ratio(rate, reference[over_rate].value, options_.ratio_floor(device)).value < factor;
  }

  static void write(const UlpSums& sums, ulpscope_measurement& out) {
    set(out, mean_ulp, sums.mean_ulp());
    set(out, over_rate, sums.over_threshold_rate());
    set(out, max_ulp, sums.max_ulp());
  }

  JudgementOptions options_;
};

}  // namespace
}  // namespace ulpscope

ULPSCOPE_PLUGIN("ulp", "0.1.0", "ulpscope", "Apache-2.0", ULPSCOPE_COMPONENT_JUDGEMENT(ulpscope::Ulp));
