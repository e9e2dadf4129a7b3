// What is fixed for a pair of types before its first block: how to load it and what to measure. Filled by
// make_pair_plan, kept by PairKernel and DetailKernel; not for use outside core/kernels.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>

#include "base/result.hpp"

namespace ulpscope {

struct BlockKernels;
enum class ErrorKind : int32_t;

// How the block kernels read a side: its own bytes, or doubles that were widened into a buffer.
enum class BlockFormat : int32_t { f64, f32, bf16, f16 };

// Error in units of the last place: |d| * 2^(mantissa_bits - E) with E the exponent of golden, at least
// least_exponent.
struct UlpRule {
  double least_power = 0;  // 2^least_exponent
  int32_t mantissa_bits = 0;
  double scale = 0;  // 2^(mantissa_bits - 1)
  double threshold = 0;
};

struct PairPlan {
  const BlockKernels* kernels = nullptr;
  DType target = DType::none, golden = DType::none;
  uint32_t groups = 0;
  int64_t parts = 1;                      // numbers of an element: 2 if one side is complex
  BlockFormat format = BlockFormat::f64;  // of both sides; f64 with other types: through a buffer
  bool buffered = true;
  bool exact = false;   // a 64-bit integer is involved: differences are taken exactly
  bool scaled = false;  // a 64-bit float is involved: squares can leave the range of double
  ErrorKind errors{};
  UlpRule ulp;
};

// unsupported: a packed or opaque type.
Result<PairPlan> make_pair_plan(DType target, DType golden, uint32_t groups);

}  // namespace ulpscope
