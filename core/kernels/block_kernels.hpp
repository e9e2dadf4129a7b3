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

// A sum of a block: lane i mod 16, folded 16→8→4→2→1.
struct SideBlock {
  double sum = 0, squares = 0;
  double max = 0, min = 0;
  int64_t zeros = 0;  // only by the functions that say so
};
struct PairBlockSums {
  SideBlock target, golden;
  double dot = 0;
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

// difference: |target - golden| where it cannot be taken from the two doubles; else null.
using OneSideFunction = void (*)(const std::byte* side, int64_t rows, SideBlock& out);
using TwoSidesFunction = void (*)(const std::byte* target, const std::byte* golden, int64_t rows,
                                  PairBlockSums& out);
using ErrorFunction = void (*)(const std::byte* target, const std::byte* golden, const double* difference,
                               int64_t rows, const UlpRule& rule, ErrorBlock& out);
using WidenFunction = void (*)(const std::byte* from, int64_t count, double* to);

struct BlockKernels {
  const char* name = nullptr;
  OneSideFunction one_side[4][2] = {};  // by BlockFormat; 1: counts zeros too
  TwoSidesFunction two_sides[4] = {};   // by BlockFormat
  ErrorFunction errors[4][4] = {};      // by BlockFormat; by groups / kGroupRelative: 1 relative, 2 ulp
  ErrorFunction errors_given[4] = {};   // f64, with a difference; by groups
  WidenFunction widen[4] = {};          // by BlockFormat; count a multiple of 16
};

// Every table that is compiled in and that this machine can run, slowest first; never empty.
const std::vector<const BlockKernels*>& available_block_kernels();
// The one in use.
const BlockKernels& active_block_kernels();

}  // namespace ulpscope
