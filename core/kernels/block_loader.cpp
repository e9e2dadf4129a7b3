#include "kernels/block_loader.hpp"

#include <ulpscope/elementwise.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace ulpscope {
namespace {

using CodeTable = std::array<double, 256>;

// The values of all codes of an 8-bit type; constant data that is made at first use.
const CodeTable& code_table(DType t) {
  static const std::array<CodeTable, kDTypeCount> tables = [] {
    std::array<CodeTable, kDTypeCount> all{};
    for (int32_t type = 0; type < kDTypeCount; ++type)
      for (size_t code = 0; code < 256; ++code)
        all[static_cast<size_t>(type)][code] = float_to_double(static_cast<DType>(type), code);
    return all;
  }();
  return tables[static_cast<size_t>(t)];
}

bool is_wide_integer(DType t) { return t == DType::i64 || t == DType::u64; }

// A 64-bit integer as high + low: high is the nearest double, low what is missing, at most 1024.
void split_integers(DType t, const std::byte* from, int64_t count, double* high, double* low) {
  for (int64_t i = 0; i < count; ++i) {
    const ExactInteger value = integer_at(t, from, static_cast<uint64_t>(i));
    const auto nearest = static_cast<double>(value.magnitude);
    // 2^64 itself has no uint64_t; there the magnitude's distance to it wraps around to the right number.
    const uint64_t whole = nearest >= 0x1p64 ? 0 : static_cast<uint64_t>(nearest);
    const auto rest = static_cast<double>(static_cast<int64_t>(value.magnitude - whole));
    high[i] = value.negative ? -nearest : nearest;
    low[i] = value.negative ? -rest : rest;
  }
}

// count elements of type t as doubles, in steps that suit the type.
void widen_elements(const PairPlan& plan, DType t, const std::byte* from, int64_t count, double* to) {
  const auto by_kernel = [&](BlockFormat format) {
    const int64_t numbers = count * static_cast<int64_t>(parts(t));
    const int64_t whole = numbers / kRowNumbers * kRowNumbers;
    plan.kernels->widen[static_cast<size_t>(format)](from, whole, to);
    const int64_t done = whole / static_cast<int64_t>(parts(t));
    widen(t, from + done * static_cast<int64_t>(size_bytes(t)), static_cast<uint64_t>(count - done),
          to + whole);
  };
  switch (t) {
    case DType::f16:
    case DType::c32:
      return by_kernel(BlockFormat::f16);
    case DType::bf16:
      return by_kernel(BlockFormat::bf16);
    case DType::f32:
    case DType::c64:
      return by_kernel(BlockFormat::f32);
    default:
      break;
  }
  if (!is_floating(t) || bits(t) != 8) {
    widen(t, from, static_cast<uint64_t>(count), to);
    return;
  }
  const CodeTable& table = code_table(t);
  for (int64_t i = 0; i < count; ++i) to[i] = table[std::to_integer<size_t>(from[i])];
}

// Moves count reals apart so that each is followed by an imaginary part of 0.
void spread(int64_t count, double* numbers) {
  for (int64_t i = count; i-- > 0;) {
    numbers[2 * i] = numbers[i];
    numbers[2 * i + 1] = 0;
  }
}

void load_side(const PairPlan& plan, DType t, const std::byte* from, int64_t numbers, double* high,
               double* low) {
  const bool alone = static_cast<int64_t>(parts(t)) < plan.parts;
  const int64_t count = numbers / plan.parts;
  if (low != nullptr) {
    if (is_wide_integer(t))
      split_integers(t, from, count, high, low);
    else
      for (int64_t i = 0; i < numbers; ++i) low[i] = 0;
    if (alone && is_wide_integer(t)) spread(count, low);
  }
  if (low == nullptr || !is_wide_integer(t)) widen_elements(plan, t, from, count, high);
  if (alone) spread(count, high);
}

// |(th + tl) - (gh + gl)|: th - gh is taken with its rounding error (Knuth's TwoSum), so that for two
// integers the result is the double nearest to the exact difference, and 0 only if they are equal.
void exact_differences(const double* target, const double* target_low, const double* golden,
                       const double* golden_low, int64_t numbers, double* difference) {
  for (int64_t i = 0; i < numbers; ++i) {
    const double a = target[i], b = -golden[i];
    const double sum = a + b;
    const double b_part = sum - a;
    const double rest = (a - (sum - b_part)) + (b - b_part);
    difference[i] = std::fabs(sum + (rest + (target_low[i] - golden_low[i])));
  }
}

}  // namespace

double BlockArrays::error(int64_t i) const {
  return difference != nullptr ? difference[i] : std::fabs(target[i] - golden[i]);
}

BlockArrays load_block(const PairPlan& plan, const std::byte* target, const std::byte* golden,
                       int64_t numbers, BlockBuffers& buffers) {
  if (plan.exact) {
    double target_low[kBlockNumbers], golden_low[kBlockNumbers];
    load_side(plan, plan.target, target, numbers, buffers.target, target_low);
    load_side(plan, plan.golden, golden, numbers, buffers.golden, golden_low);
    exact_differences(buffers.target, target_low, buffers.golden, golden_low, numbers, buffers.difference);
  } else {
    load_side(plan, plan.target, target, numbers, buffers.target, nullptr);
    load_side(plan, plan.golden, golden, numbers, buffers.golden, nullptr);
  }
  for (int64_t i = numbers; i < rows_of(numbers) * kRowNumbers; ++i)
    buffers.target[i] = buffers.golden[i] = buffers.difference[i] = std::numeric_limits<double>::quiet_NaN();
  return {buffers.target, buffers.golden, plan.exact ? buffers.difference : nullptr};
}

}  // namespace ulpscope
