// The loops that exist once for each instruction set, as tables of functions. Each takes the numbers of one
// block in rows of 16 lanes and answers with folded sums. All numbers must be finite or the answers are not;
// the callers see to it. Internal to core/kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/pair_plan.hpp"

namespace ulpscope {

constexpr int64_t kBlockNumbers = 1024;
constexpr int64_t kRowNumbers = 16;
constexpr int64_t kGroupRows = 8;
constexpr uint32_t kAllGroups = 0xFF;
static_assert(kBlockNumbers == kRowNumbers * kGroupRows * 8);

// A sum of a block: lane i mod 16, folded 16→8→4→2→1.
struct SideBlock {
  double sum = 0, squares = 0;
  double max = 0, min = 0;
  int64_t zeros = 0;  // only by the functions that say so
};
struct PairBlockSums {
  SideBlock target, golden;
  double dot = 0;
  uint32_t differing =
      kAllGroups;  // bit i: group i of kGroupRows rows holds numbers that are not the same bytes
};
struct ErrorBlock {
  double sum_abs = 0, sum_squares = 0, max_abs = 0;
  int64_t unequal = 0, golden_zero_mismatch = 0;
  int64_t outside[4] = {0, 0, 0, 0};  // not within kWithinLimits
  double sum_rel = 0, max_rel = 0;
  int64_t golden_zero = 0;
  double sum_ulp = 0, max_ulp = 0;
  int64_t ulp_over = 0;
};

// Whether, and how far, the limits of kWithinLimits are tested. Two unequal numbers of one format with m
// mantissa bits are at least 2^-(m+1) apart, so that below that limit everything unequal is outside.
enum class ErrorKind : int32_t {
  wide,       // a 64-bit float is involved: all limits, and the ulp factor in two steps
  all,        // all limits
  down_to_3,  // f16: 1e-4 is below 2^-11
  down_to_2,  // bf16: 1e-3 is below 2^-8
  none,       // 8-bit floats: 1e-2 is below 2^-4
};
constexpr size_t kErrorKinds = 5;

using OneSideFunction = void (*)(const std::byte* side, int64_t rows, SideBlock& out);
// Besides the sums: error[i] = |target - golden| and size[i] = |golden|, aligned to 64 bytes, for an
// ErrorFunction.
using TwoSidesFunction = void (*)(const std::byte* target, const std::byte* golden, int64_t rows,
                                  PairBlockSums& out, double* error, double* size);
// differing as in PairBlockSums: errors of the other groups are known to be 0.
using ErrorFunction = void (*)(const double* error, const double* size, int64_t rows, uint32_t differing,
                               const UlpRule& rule, ErrorBlock& out);
using WidenFunction = void (*)(const std::byte* from, int64_t count, double* to);

struct BlockKernels {
  const char* name = nullptr;
  OneSideFunction one_side[4][2] = {};        // by BlockFormat; 1: counts zeros too
  TwoSidesFunction two_sides[4] = {};         // by BlockFormat
  ErrorFunction errors[kErrorKinds][4] = {};  // by ErrorKind; by groups / kGroupRelative: 1 relative, 2 ulp
  WidenFunction widen[4] = {};                // by BlockFormat; count a multiple of 16
};

// Every table that is compiled in and that this machine can run, slowest first; never empty.
const std::vector<const BlockKernels*>& available_block_kernels();
// The one in use.
const BlockKernels& active_block_kernels();

}  // namespace ulpscope
