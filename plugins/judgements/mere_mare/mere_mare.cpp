// The judgement "mere_mare": mean and largest relative error, as the CANN community asks of its operators.
#include <string>

#include "base/text.hpp"
#include "judgements/options.hpp"
#include "judgements/relative_sums.hpp"
#include "judgements/sums_measure.hpp"

namespace ulpscope {
namespace {

enum Metric : uint32_t { mere, mare, mismatch };

// Largest MERE by type; MARE may be mare_factor times as large. Source: the open-source standard of the CANN
// community for the accuracy of operators.
constexpr double kFloat32 = 0x1p-13, kHifloat32 = 0x1p-11, kFloat16 = 0x1p-10, kBfloat16 = 0x1p-7;
constexpr double kFloat8E4m3 = 0x1p-3, kFloat8E5m2 = 0x1p-2;
constexpr double kMareFactor = 10;

class MereMare final : public Judgement {
 public:
  static constexpr const char* kName = "mere_mare";
  static constexpr const char* kSummary = "mean and largest relative error below the limit of the type";
  static constexpr uint32_t kNeedsReference = 0;
  static constexpr ulpscope_metric_desc kMetrics[] = {
      {"mere", -1, 0, "mean of |d - g| / (|g| + 1e-7) over finite pairs"},
      {"mare", -1, 0, "max of |d - g| / (|g| + 1e-7) over finite pairs"},
      {"nonfinite_mismatch", -1, 0, "count of NaN and infinities that are not the same on both sides"}};
  static constexpr ulpscope_option_desc kOptions[] = {
      {"float32_threshold", "number", "2^-13", "MERE must be below it"},
      {"float16_threshold", "number", "2^-10", "as for float32"},
      {"bfloat16_threshold", "number", "2^-7", "as for float32"},
      {"float8_e4m3fn_threshold", "number", "2^-3", "as for float32"},
      {"float8_e5m2_threshold", "number", "2^-2", "as for float32"},
      {"other_threshold", "number", "2^-13", "for types that are not named here"},
      {"hifloat8_threshold", "number", "none",
       "the standard has no limit for it: without one it is not judged"},
      {"hifloat32", "true or false", "false", "float32 was computed in HiFloat32: its limit is 2^-11"},
      {"mare_factor", "number", "10", "MARE must be below so many thresholds"}};

  MereMare(Host, std::string_view options_json)
      : options_(kName, options_json, kOptions), factor_(options_.number("mare_factor", kMareFactor)) {
    for (const DType t :
         {DType::f32, DType::f16, DType::bf16, DType::f8_e4m3fn, DType::f8_e5m2, DType::hif8, DType::f64})
      threshold(t);
  }

  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    if (!are_floating(pair, why_not)) return false;
    why_not = "the standard has no limit for hifloat8";
    return static_cast<DType>(pair.actual_dtype) != DType::hif8 || options_.has("hifloat8_threshold");
  }

  std::unique_ptr<Measure> begin(const ulpscope_pair&) const override {
    return std::make_unique<SumsMeasure<MeanMaxRelativeSums>>(MeanMaxRelativeSums(), &write);
  }

  void judge(const ulpscope_pair& pair, const ulpscope_metric* metrics, const ulpscope_metric*,
             ulpscope_verdict& out) const override {
    VerdictBuilder verdict(out);
    const double limit = threshold(static_cast<DType>(pair.actual_dtype));
    decide_below(verdict, metrics, mere, limit);
    decide_below(verdict, metrics, mare, factor_ * limit);
    decide_rate(verdict, metrics, mismatch, kMetrics[mismatch].name, 0);
  }

 private:
  double threshold(DType device) const {
    switch (device) {
      case DType::hif8:
        return options_.number("hifloat8_threshold", 0);
      case DType::f32:
      case DType::c64:
        return options_.number("float32_threshold", options_.flag("hifloat32") ? kHifloat32 : kFloat32);
      case DType::f16:
      case DType::c32:
        return options_.number("float16_threshold", kFloat16);
      case DType::bf16:
        return options_.number("bfloat16_threshold", kBfloat16);
      case DType::f8_e4m3fn:
      case DType::f8_e4m3fnuz:
        return options_.number("float8_e4m3fn_threshold", kFloat8E4m3);
      case DType::f8_e5m2:
      case DType::f8_e5m2fnuz:
        return options_.number("float8_e5m2_threshold", kFloat8E5m2);
      default:
        return options_.number("other_threshold", kFloat32);
    }
  }

  static void decide_below(VerdictBuilder& verdict, const ulpscope_metric* metrics, uint32_t metric,
                           double limit) {
    if (metrics[metric].available != 0 && metrics[metric].value < limit) {
      verdict.decide(metric, ULPSCOPE_PASS);
      return;
    }
    verdict.decide(metric, ULPSCOPE_FAIL);
    verdict.say(metrics[metric].available == 0
                    ? std::string(kMetrics[metric].name) + " is missing"
                    : std::string(kMetrics[metric].name) + " " + number_text(metrics[metric].value) +
                          ", needed below " + number_text(limit));
  }

  static void write(const MeanMaxRelativeSums& sums, ulpscope_measurement& out) {
    set(out, mere, sums.mean());
    set(out, mare, sums.max());
    set(out, mismatch, static_cast<double>(sums.nonfinite_mismatch()));
  }

  JudgementOptions options_;
  double factor_ = kMareFactor;
};

}  // namespace
}  // namespace ulpscope

ULPSCOPE_PLUGIN("mere_mare", "0.1.0", "ulpscope", "Apache-2.0",
                ULPSCOPE_COMPONENT_JUDGEMENT(ulpscope::MereMare));
