// The judgement "precheck": the indicators by which stage one of the offline pre-check marks an output.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/text.hpp"
#include "judgements/options.hpp"
#include "judgements/relative_sums.hpp"
#include "judgements/sums_measure.hpp"
#include "kernels/pair_kernels.hpp"
#include "kernels/pair_metrics.hpp"

namespace ulpscope {
namespace {

enum Indicator : uint32_t {
  cosine,
  max_abs,
  hundredth,
  thousandth,
  ten_thousandth,
  elements,
  zero_sides,
  nonfinite_mismatch
};

// A side whose magnitudes are all up to this is taken as zero. Source: the code of msprobe.
constexpr double kZeroMagnitude = 0x1p-52;

// Everything that the indicators need: the shared kernel gives the cosine, as for the general metrics.
class PrecheckSums {
 public:
  PrecheckSums(PairKernel kernel, NonfiniteRule rule, DType device, DType golden)
      : kernel_(kernel), rule_(rule), relative_(rule, device, golden) {}

  void consume(const ulpscope_view& actual, const ulpscope_view& golden) {
    relative_.consume(actual, golden);
    kernel_.run(static_cast<const std::byte*>(actual.data), static_cast<const std::byte*>(golden.data),
                static_cast<int64_t>(actual.count), first_, sums_);
    first_ += static_cast<int64_t>(actual.count);
  }
  void merge(const PrecheckSums& next) {
    relative_.merge(next.relative_);
    sums_.merge(next.sums_);
  }

  void write(ulpscope_measurement& out) const {
    const int zeros = (relative_.largest_actual() <= kZeroMagnitude ? 1 : 0) +
                      (relative_.largest_golden() <= kZeroMagnitude ? 1 : 0);
    set(out, elements, static_cast<double>(relative_.count()));
    set(out, zero_sides, zeros);
    set(out, max_abs, relative_.max_abs_error());
    set(out, hundredth, relative_.within(RelativeSums::hundredth));
    set(out, thousandth, relative_.within(RelativeSums::thousandth));
    set(out, ten_thousandth, relative_.within(RelativeSums::ten_thousandth));
    if (rule_ == NonfiniteRule::equal_is_equal)
      set(out, nonfinite_mismatch, static_cast<double>(relative_.nonfinite_mismatch()));
    if (relative_.count() <= 1 || zeros > 0) return;
    if (rule_ == NonfiniteRule::never_within && relative_.has_nonfinite()) {
      set(out, cosine, std::numeric_limits<double>::quiet_NaN());
    } else if (const std::optional<double> value = ulpscope::cosine(sums_)) {
      set(out, cosine, std::clamp(*value, -1.0, 1.0));
    }
  }

 private:
  PairKernel kernel_;
  NonfiniteRule rule_;
  RelativeSums relative_;
  PairSums sums_;
  int64_t first_ = 0;
};

class Precheck final : public Judgement {
 public:
  static constexpr const char* kName = "precheck";
  static constexpr const char* kSummary =
      "stage one of the pre-check: cosine, largest error, shares within 1e-2, 1e-3 and 1e-4";
  static constexpr uint32_t kNeedsReference = 0;
  static constexpr ulpscope_metric_desc kMetrics[] = {
      {"cosine", 1, 0, "cosine of the two; not there for one element or a zero side"},
      {"max_abs_error", -1, 0, "max |d - g|"},
      {"ratio_within_0.01", 1, 0, "count(e / (|g| + epsilon) < 0.01) / count"},
      {"ratio_within_0.001", 1, 0, "count(e / (|g| + epsilon) < 0.001) / count"},
      {"ratio_within_0.0001", 1, 0, "count(e / (|g| + epsilon) < 0.0001) / count"},
      {"elements", 0, 0, "numbers compared"},
      {"zero_sides", 0, 0, "sides whose magnitudes are all at most 2^-52"},
      {"nonfinite_mismatch", -1, 0, "count of NaN and infinities that are not the same on both sides"}};
  static constexpr ulpscope_option_desc kOptions[] = {
      {"profile", "seed or msprobe_code", "seed",
       "msprobe_code: equal NaN and infinities are errors, as its code has it"},
      {"cosine", "number", "0.99", "must be above it"},
      {"max_abs_error", "number", "0.001", "passes at once below it"}};

  Precheck(Host, std::string_view options_json)
      : options_(kName, options_json, kOptions),
        cosine_limit_(options_.number("cosine", 0.99)),
        absolute_limit_(options_.number("max_abs_error", 0.001)) {
    options_.profile();
  }

  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    return are_floating(pair, why_not);
  }

  std::unique_ptr<Measure> begin(const ulpscope_pair& pair) const override {
    const auto device = static_cast<DType>(pair.actual_dtype), golden = static_cast<DType>(pair.golden_dtype);
    const auto kernel = PairKernel::choose(device, golden, kGroupDefault);
    if (!kernel.ok()) throw Failure(ULPSCOPE_E_UNSUPPORTED, kernel.error().message);
    const bool seed = options_.profile() == LimitProfile::seed;
    return std::make_unique<SumsMeasure<PrecheckSums>>(
        PrecheckSums(*kernel, seed ? NonfiniteRule::equal_is_equal : NonfiniteRule::never_within, device,
                     golden),
        &write);
  }

  void judge(const ulpscope_pair& pair, const ulpscope_metric* metrics, const ulpscope_metric*,
             ulpscope_verdict& out) const override {
    VerdictBuilder verdict(out);
    if (metrics[nonfinite_mismatch].available != 0 && metrics[nonfinite_mismatch].value != 0) {
      verdict.decide(nonfinite_mismatch, ULPSCOPE_FAIL);
      verdict.say("NaN or infinity on one side alone");
      return;
    }
    if (!judge_cosine(metrics, verdict)) return;
    if (metrics[max_abs].available != 0 && metrics[max_abs].value < absolute_limit_) {
      verdict.decide(max_abs, ULPSCOPE_PASS);
      return;
    }
    const auto type = static_cast<DType>(pair.actual_dtype);
    const bool narrow = bits(type) <= 16 || type == DType::c32;
    const uint32_t must = narrow ? hundredth : thousandth, should = narrow ? thousandth : ten_thousandth;
    const double limits[] = {0, 0, 0.01, 0.001, 0.0001};
    if (!reached(metrics[must], limits[must])) {
      verdict.decide(must, ULPSCOPE_FAIL);
      verdict.say(std::string(kMetrics[must].name) + " is too low");
      return;
    }
    verdict.decide(must, ULPSCOPE_PASS);
    const bool good = reached(metrics[should], limits[should]);
    verdict.decide(should, good ? ULPSCOPE_PASS : ULPSCOPE_WARNING);
    if (!good) verdict.say(std::string(kMetrics[should].name) + " is low");
  }

 private:
  // NaN counts as reached: the shares below tell what is wrong. False when the verdict is final.
  bool judge_cosine(const ulpscope_metric* metrics, VerdictBuilder& verdict) const {
    if (metrics[cosine].available != 0) {
      if (!(metrics[cosine].value <= cosine_limit_)) return true;
      verdict.decide(cosine, ULPSCOPE_FAIL);
      verdict.say("cosine " + number_text(metrics[cosine].value) + ", needed above " +
                  number_text(cosine_limit_));
      return false;
    }
    if (metrics[elements].available != 0 && metrics[elements].value <= 1) return true;
    if (metrics[zero_sides].available == 0 || metrics[zero_sides].value != 1) return true;
    verdict.decide(cosine, ULPSCOPE_FAIL);
    verdict.say("one side is zero, the other one is not");
    return false;
  }

  static bool reached(const ulpscope_metric& share, double limit) {
    return share.available != 0 && share.value > 1 - limit;
  }
  static void write(const PrecheckSums& sums, ulpscope_measurement& out) { sums.write(out); }

  JudgementOptions options_;
  double cosine_limit_, absolute_limit_;
};

}  // namespace
}  // namespace ulpscope

ULPSCOPE_PLUGIN("precheck", "0.1.0", "ulpscope", "Apache-2.0",
                ULPSCOPE_COMPONENT_JUDGEMENT(ulpscope::Precheck));
