// Sums of squares of float64 data whose squares do not fit a double: the same sums in units of a power of
// two. Rare, so plain loops in the fixed lane order do. Internal to core/kernels.
#pragma once

#include <cstdint>

#include "kernels/block_kernels.hpp"
#include "kernels/block_loader.hpp"

namespace ulpscope {

// sum in units of 2^exponent, squares of 4^exponent.
struct ScaledSide {
  double sum = 0, squares = 0;
  int32_t exponent = 0;
};

// Whether a block's sum of squares can be trusted: it neither overflowed, nor is it so small that squares of
// large enough numbers may have been lost below it.
bool squares_are_safe(double squares);

// The sums of one side, all numbers finite.
ScaledSide scaled_side(const double* values, int64_t rows);

// Sum of target * golden in units of 2^(target_exponent + golden_exponent).
double scaled_dot(const double* target, const double* golden, int64_t rows, int32_t target_exponent,
                  int32_t golden_exponent);

// The sums of |target - golden|, also where the difference itself overflows.
ScaledSide scaled_errors(const BlockArrays& block, int64_t rows);

// Divides the pairs with an overflowing difference by 4, both sides, which changes no ratio between them.
void quarter_overflowing(const BlockArrays& block, int64_t rows, BlockBuffers& out);

}  // namespace ulpscope
