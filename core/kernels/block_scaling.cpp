#include "kernels/block_scaling.hpp"

#include <cmath>

namespace ulpscope {
namespace {

double folded(double (&lanes)[kRowNumbers]) {
  for (int64_t half = kRowNumbers / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

// 2^exponent times the largest magnitude is between 1 and 2; 0 when all are 0.
int32_t exponent_of_largest(const double* values, int64_t count) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i)
    largest = std::fabs(values[i]) > largest ? std::fabs(values[i]) : largest;
  return largest == 0 ? 0 : std::ilogb(largest);
}

ScaledSide sums_of(const double* values, int64_t rows, int32_t exponent) {
  double sums[kRowNumbers] = {}, squares[kRowNumbers] = {};
  for (int64_t i = 0; i < rows * kRowNumbers; ++i) {
    const double v = std::ldexp(values[i], -exponent);
    sums[i % kRowNumbers] += v;
    squares[i % kRowNumbers] += v * v;
  }
  return {folded(sums), folded(squares), exponent};
}

bool overflows(const BlockArrays& block, int64_t i) { return std::isinf(block.error(i)); }

}  // namespace

bool squares_are_safe(double squares) { return squares >= 0x1p-800 && squares <= 0x1p900; }

ScaledSide scaled_side(const double* values, int64_t rows) {
  return sums_of(values, rows, exponent_of_largest(values, rows * kRowNumbers));
}

double scaled_dot(const double* target, const double* golden, int64_t rows, int32_t target_exponent,
                  int32_t golden_exponent) {
  double sums[kRowNumbers] = {};
  for (int64_t i = 0; i < rows * kRowNumbers; ++i)
    sums[i % kRowNumbers] +=
        std::ldexp(target[i], -target_exponent) * std::ldexp(golden[i], -golden_exponent);
  return folded(sums);
}

ScaledSide scaled_errors(const BlockArrays& block, int64_t rows) {
  const int64_t count = rows * kRowNumbers;
  double errors[kBlockNumbers];
  bool overflow = false;
  for (int64_t i = 0; i < count; ++i) overflow = overflow || overflows(block, i);
  // With an overflow everything is taken at a quarter: what that loses of subnormal numbers is nothing beside
  // it.
  for (int64_t i = 0; i < count; ++i)
    errors[i] = overflow ? std::fabs(block.target[i] / 4 - block.golden[i] / 4) : block.error(i);
  ScaledSide sums = scaled_side(errors, rows);
  sums.exponent += overflow ? 2 : 0;
  return sums;
}

void quarter_overflowing(const BlockArrays& block, int64_t rows, BlockBuffers& out) {
  for (int64_t i = 0; i < rows * kRowNumbers; ++i) {
    const double factor = overflows(block, i) ? 0.25 : 1;
    out.target[i] = block.target[i] * factor;
    out.golden[i] = block.golden[i] * factor;
  }
}

}  // namespace ulpscope
