// One fused pass over both sides of a pair: everything that the general metrics need, summed in the fixed
// order of blocks and lanes, so that the numbers are the same bits for every instruction set, thread count
// and chunk size. Used by the measuring host and by judgement plugins. Reads memory only; turning sums into
// metrics is pair_metrics.hpp, quantiles and worst elements are detail_pass.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "kernels/pair_plan.hpp"

namespace ulpscope {

// What is measured beyond counts, both sides' statistics, max_abs_err, mean_abs_err, rmse, rel_l2, euclidean,
// cosine, within_5e-3 and within_1e-3, which kGroupDefault stands for and which are always measured.
enum MetricGroups : uint32_t {
  kGroupDefault = 1,
  kGroupRelative = 2,  // max_rel_err mean_rel_err within_1e-2 within_1e-4
  kGroupUlp = 4,       // max_ulp mean_ulp ulp_over_threshold_rate; only where the target is a floating type
};

// Limits of PairSums::within, in its order.
constexpr double kWithinLimits[4] = {1e-2, 5e-3, 1e-3, 1e-4};

// Statistics of one side over its own finite numbers. sum counts in units of 2^exponent, sum_squares in units
// of 4^exponent; exponent is 0 but for float64 data so large or small that the squares do not fit a double.
struct SideSums {
  double max = 0, min = 0;  // without meaning while finite is 0; a zero is +0
  double sum = 0, sum_squares = 0;
  int64_t nan_count = 0, positive_inf = 0, negative_inf = 0, finite = 0;
  int32_t exponent = 0;

  void merge(const SideSums& next);
};

// The mergeable state of one tile, or of a whole tensor after merging its tiles in order. Numbers are what an
// element is made of: a complex element is two, any other one. Indexes are those of elements, -1 where there
// is none. The exponents are 0 as in SideSums.
struct PairSums {
  int64_t elements = 0;  // in numbers, as all counts here
  int64_t unequal = 0;   // nonfinite mismatches included
  int64_t nonfinite_mismatch = 0, nonfinite_equal = 0;
  int64_t golden_zero_mismatch = 0;  // golden 0, target finite and not 0
  int64_t first_mismatch_index = -1;
  int64_t first_unequal_index = -1;
  int64_t finite_pairs = 0;  // finite on both sides

  // |target - golden|, exact for integers of any size before it becomes the nearest double. Ties: lowest
  // index. The index is -1 while the error is 0.
  double max_abs_err = 0;
  int64_t max_abs_index = -1;
  double max_abs_target = 0, max_abs_golden = 0;
  // |target - golden| / |golden| over the relative_pairs with golden not 0. With kGroupRelative.
  double max_rel_err = 0;
  int64_t max_rel_index = -1;
  double sum_rel_err = 0;
  int64_t relative_pairs = 0;

  // Over finite pairs. sum_abs_err in units of 2^error_exponent, sum_squared_err of 4^error_exponent,
  // squares_target of 4^target_exponent, squares_golden of 4^golden_exponent, dot of 2^(target_exponent +
  // golden_exponent).
  double sum_abs_err = 0, sum_squared_err = 0;
  double dot = 0, squares_target = 0, squares_golden = 0;
  int32_t error_exponent = 0, target_exponent = 0, golden_exponent = 0;

  // Numbers with a relative error below kWithinLimits: strictly, golden 0 only if target is 0; equal NaN and
  // infinities are within, mismatches are not. 1e-2 and 1e-4 with kGroupRelative.
  int64_t within[4] = {0, 0, 0, 0};

  // Error in units of the target type's last place at golden, over ulp_pairs. With kGroupUlp.
  double max_ulp = 0, sum_ulp = 0;
  int64_t ulp_over_threshold = 0, ulp_pairs = 0;

  SideSums target, golden;
  uint32_t groups = kGroupDefault;  // what was measured; after a merge of unlike states: what both measured

  // Adds the state of the tile that follows this one. Not commutative: ties and rounding depend on the order.
  void merge(const PairSums& next_tile);
};

// The pass for one pair of types. A value; copies are cheap, run may be called from any thread.
class PairKernel {
 public:
  // unsupported: a packed or opaque type (none, int4x2, float4_e2m1fn_x2). Any two others are fine: they
  // widen without loss, 64-bit integers included. groups: a union of MetricGroups. Takes the instruction set
  // that kernel_isa() names at this moment.
  static Result<PairKernel> choose(DType target, DType golden, uint32_t groups);

  // Adds count elements, the first of which has the global index first_index. count is a multiple of 1024 but
  // at the end of the tensor. The bytes need no alignment; both sides hold count elements of their type.
  void run(const std::byte* target, const std::byte* golden, int64_t count, int64_t first_index,
           PairSums& sums) const;

 private:
  explicit PairKernel(const PairPlan& plan) : plan_(plan) {}
  PairPlan plan_;
};

}  // namespace ulpscope
