#include "judgements/ulp_sums.hpp"

#include <cmath>
#include <limits>

namespace ulpscope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Keeps the logarithm of zero finite; source: the published scheme of the 8-bit formats.
constexpr double kLeastMagnitude = 0x1p-1000;
constexpr double kLeastTaperedLog = -22;

// ex = max(log2(|g| + 2^-1000), -22), w = width of the mantissa at floor(ex): 3 up to |3|, 2 up to |7|, 1 up
// to |15|, else 0. (d - g) 2^(w - floor(ex)); without a mantissa the difference of the logarithms.
double tapered_error(double d, double g) {
  const double log = std::max(std::log2(std::fabs(g) + kLeastMagnitude), kLeastTaperedLog);
  const double exponent = std::floor(log), size = std::fabs(exponent);
  const int width = size <= 3 ? 3 : size <= 7 ? 2 : size <= 15 ? 1 : 0;
  if (width > 0) return std::ldexp(d - g, width - static_cast<int>(exponent));
  return std::max(std::log2(std::fabs(d) + kLeastMagnitude), kLeastTaperedLog) - log;
}

bool is_equal_nonfinite(double d, double g) {
  return std::isnan(g) ? std::isnan(d) : std::isinf(g) && d == g;
}

}  // namespace

UlpSums::Rules UlpSums::rules(LimitProfile profile, DType device) {
  Rules rules;
  rules.format = ulp_format(device);
  const bool peer = profile == LimitProfile::msprobe_code;
  rules.zero_exponent = peer ? 0 : rules.format.min_exponent;
  rules.signed_tapered = peer;
  rules.equal_nonfinite_is_equal = !peer;
  return rules;
}

double UlpSums::error(double d, double g) const {
  if (!std::isfinite(g)) return rules_.equal_nonfinite_is_equal && is_equal_nonfinite(d, g) ? 0 : kNaN;
  if (rules_.format.tapered) {
    const double u = std::isfinite(d) ? tapered_error(d, g) : d;
    return rules_.signed_tapered ? u : std::fabs(u);
  }
  const int exponent = g == 0 ? rules_.zero_exponent : std::max(std::ilogb(g), rules_.format.min_exponent);
  return std::fabs(std::ldexp(d - g, rules_.format.mantissa_bits - exponent));
}

void UlpSums::consume(const ulpscope_view& actual, const ulpscope_view& golden) {
  visit_blocks(actual, golden, [this](const PairBlock& block) {
    double lanes[kLanes] = {};
    for (uint32_t i = 0; i < block.count; ++i) {
      const double u = error(block.actual[i], block.golden[i]);
      lanes[i % kLanes] += u;
      over_ += u > rules_.format.over_threshold ? 1 : 0;
      if (std::isnan(u)) {
        ++nan_;
      } else if (!has_max_ || u > max_) {
        max_ = u;
        has_max_ = true;
      }
    }
    for (uint32_t half = kLanes / 2; half > 0; half /= 2)
      for (uint32_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    sum_ += lanes[0];
    count_ += block.count;
  });
}

void UlpSums::merge(const UlpSums& next) {
  count_ += next.count_;
  nan_ += next.nan_;
  over_ += next.over_;
  sum_ += next.sum_;
  if (next.has_max_ && (!has_max_ || next.max_ > max_)) max_ = next.max_;
  has_max_ = has_max_ || next.has_max_;
}

double UlpSums::max_ulp() const { return nan_ > 0 ? kNaN : max_; }

double UlpSums::mean_ulp() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

double UlpSums::over_threshold_rate() const {
  return count_ == 0 ? 0 : static_cast<double>(over_) / static_cast<double>(count_);
}

}  // namespace ulpscope
