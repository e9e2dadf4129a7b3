#include "judgements/error_sums.hpp"

#include <ulpscope/half.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope {
namespace {

// The largest bfloat16, as the standard writes it.
constexpr double kLargestBfloat16 = 3.3895313892515355e38;
// Terms of the published formula of rmse.
constexpr double kRmseTerm = 0.0001;

double rate(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// From here on a difference rounds to infinity in the array type: the largest value and half a unit above.
double overflow_bound(DType array) {
  switch (array) {
    case DType::f16:
      return 65520;
    case DType::f32:
      return 0x1.ffffffp127;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

DType part_type(DType t) {
  return t == DType::c32 ? DType::f16 : t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t;
}

// Whether every value of one type is a value of another one.
bool holds(DType array, DType golden) {
  const DType g = part_type(golden);
  if (array == DType::f64) return is_floating(g);
  if (array == DType::f32) return is_floating(g) && g != DType::f64;
  return g == DType::f16 || g == DType::f8_e4m3fn || g == DType::f8_e5m2;
}

void fold(double* lanes) {
  for (uint32_t half = kLanes / 2; half > 0; half /= 2)
    for (uint32_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
}

}  // namespace

ErrorSums::ErrorSums(const ErrorLimits& limits, DType device, DType golden)
    : limits_(limits),
      epsilon_(golden_epsilon(golden, device)),
      array_(array_type(device)),
      golden_fits_(holds(array_type(device), golden)),
      largest_(device == DType::bf16 ? kLargestBfloat16 : largest_finite(array_type(device))),
      overflow_(overflow_bound(array_type(device))) {}

void ErrorSums::consume(const ulpscope_view& actual, const ulpscope_view& golden) {
  visit_blocks(actual, golden, [this](const PairBlock& block) { add_block(block); });
}

void ErrorSums::hold_golden(const PairBlock& block, double* to) const {
  for (uint32_t i = 0; i < block.count; ++i) to[i] = as_array_type(array_, block.golden[i]);
}

bool ErrorSums::is_fine(double actual, double held_golden, double golden) const {
  if (std::isnan(actual) || std::isnan(held_golden)) return std::isnan(actual) && std::isnan(held_golden);
  const double difference =
      std::fabs(std::clamp(actual, -largest_, largest_) - std::clamp(held_golden, -largest_, largest_));
  const double held = difference >= overflow_ ? std::numeric_limits<double>::infinity() : difference;
  return held / (std::fabs(golden) + epsilon_) <= limits_.rtol;
}

void ErrorSums::add_block(const PairBlock& block) {
  double squares[kLanes] = {}, relatives[kLanes] = {};
  double held_block[ULPSCOPE_BLOCK];
  const double* held = block.golden;
  if (!golden_fits_) {
    hold_golden(block, held_block);
    held = held_block;
  }
  for (uint32_t i = 0; i < block.count; ++i) {
    const double d = block.actual[i], g = block.golden[i];
    greater_ += d > held[i] ? 1 : 0;
    less_ += d < held[i] ? 1 : 0;
    if (!std::isfinite(d) || !std::isfinite(held[i])) {
      ++infnan_;
      infnan_bad_ += is_fine(d, held[i], g) ? 0 : 1;
      continue;
    }
    const double e = std::fabs(d - g), size = std::fabs(g);
    if (size <= limits_.small_value) {
      ++small_;
      small_over_ += e > limits_.small_value_atol ? 1 : 0;
      continue;
    }
    ++normal_;
    const double r = e / (size + epsilon_);
    normal_over_ += r > limits_.rtol ? 1 : 0;
    max_relative_ = r > max_relative_ ? r : max_relative_;
    squares[i % kLanes] += e * e;
    relatives[i % kLanes] += r;
  }
  fold(squares);
  fold(relatives);
  count_ += block.count;
  sum_squares_ += squares[0];
  sum_relative_ += relatives[0];
}

void ErrorSums::merge(const ErrorSums& next) {
  count_ += next.count_;
  normal_ += next.normal_;
  small_ += next.small_;
  infnan_ += next.infnan_;
  small_over_ += next.small_over_;
  normal_over_ += next.normal_over_;
  infnan_bad_ += next.infnan_bad_;
  greater_ += next.greater_;
  less_ += next.less_;
  sum_squares_ += next.sum_squares_;
  sum_relative_ += next.sum_relative_;
  max_relative_ = std::max(max_relative_, next.max_relative_);
}

double ErrorSums::small_value_error_rate() const { return rate(small_over_, small_); }

double ErrorSums::rmse() const {
  if (count_ == 0) return 0;
  const auto n = static_cast<double>(count_);
  const auto m = static_cast<double>(infnan_ + small_);
  return std::sqrt(sum_squares_ / n * (n / (n - m + kRmseTerm) + kRmseTerm));
}

double ErrorSums::mean_relative_error() const {
  return normal_ == 0 ? 0 : sum_relative_ / static_cast<double>(normal_);
}

double ErrorSums::error_balance() const {
  return rate(greater_ > less_ ? greater_ - less_ : less_ - greater_, count_);
}

double ErrorSums::inf_nan_error_rate() const { return rate(infnan_bad_, infnan_); }

double ErrorSums::relative_error_rate() const { return rate(normal_over_, normal_); }

}  // namespace ulpscope
