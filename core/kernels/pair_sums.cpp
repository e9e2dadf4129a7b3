// Merging of tiles, and of sums that carry a power of two.
#include <algorithm>
#include <cmath>

#include "kernels/pair_kernels.hpp"

namespace ulpscope {
namespace {

// Brings a sum from units of 2^from to units of 2^to.
double moved(double value, int32_t from, int32_t to) {
  return from == to ? value : std::ldexp(value, from - to);
}

// The units in which two sums are added: those of the larger one. A sum without anything in it has no say.
int32_t common_exponent(bool first_empty, int32_t first, bool next_empty, int32_t next) {
  return next_empty ? first : first_empty ? next : std::max(first, next);
}

// Takes the larger error; at a tie what was there first, which has the lower indexes.
void take_larger(double& error, int64_t& index, double next_error, int64_t next_index) {
  if (next_index < 0 || (index >= 0 && !(next_error > error))) return;
  error = next_error;
  index = next_index;
}

int64_t first_of(int64_t index, int64_t next) { return index >= 0 ? index : next; }

void merge_scaled(PairSums& sums, const PairSums& next) {
  const int32_t error =
      common_exponent(sums.sum_abs_err == 0, sums.error_exponent, next.sum_abs_err == 0, next.error_exponent);
  const int32_t target = common_exponent(sums.squares_target == 0, sums.target_exponent,
                                         next.squares_target == 0, next.target_exponent);
  const int32_t golden = common_exponent(sums.squares_golden == 0, sums.golden_exponent,
                                         next.squares_golden == 0, next.golden_exponent);
  const auto add = [](double value, int32_t from, double next_value, int32_t next_from, int32_t to) {
    return moved(value, from, to) + moved(next_value, next_from, to);
  };
  sums.dot = add(sums.dot, sums.target_exponent + sums.golden_exponent, next.dot,
                 next.target_exponent + next.golden_exponent, target + golden);
  sums.sum_abs_err = add(sums.sum_abs_err, sums.error_exponent, next.sum_abs_err, next.error_exponent, error);
  sums.sum_squared_err = add(sums.sum_squared_err, 2 * sums.error_exponent, next.sum_squared_err,
                             2 * next.error_exponent, 2 * error);
  sums.squares_target = add(sums.squares_target, 2 * sums.target_exponent, next.squares_target,
                            2 * next.target_exponent, 2 * target);
  sums.squares_golden = add(sums.squares_golden, 2 * sums.golden_exponent, next.squares_golden,
                            2 * next.golden_exponent, 2 * golden);
  sums.error_exponent = error;
  sums.target_exponent = target;
  sums.golden_exponent = golden;
}

}  // namespace

void SideSums::merge(const SideSums& next) {
  if (next.finite > 0) {
    max = finite > 0 && !(next.max > max) ? max : next.max;
    min = finite > 0 && !(next.min < min) ? min : next.min;
    const int32_t to = common_exponent(sum_squares == 0, exponent, next.sum_squares == 0, next.exponent);
    sum = moved(sum, exponent, to) + moved(next.sum, next.exponent, to);
    sum_squares =
        moved(sum_squares, 2 * exponent, 2 * to) + moved(next.sum_squares, 2 * next.exponent, 2 * to);
    exponent = to;
  }
  nan_count += next.nan_count;
  positive_inf += next.positive_inf;
  negative_inf += next.negative_inf;
  finite += next.finite;
}

void PairSums::merge(const PairSums& next_tile) {
  if (elements == 0) {
    *this = next_tile;
    return;
  }
  if (next_tile.elements == 0) return;
  groups &= next_tile.groups;
  elements += next_tile.elements;
  unequal += next_tile.unequal;
  nonfinite_mismatch += next_tile.nonfinite_mismatch;
  nonfinite_equal += next_tile.nonfinite_equal;
  golden_zero_mismatch += next_tile.golden_zero_mismatch;
  first_mismatch_index = first_of(first_mismatch_index, next_tile.first_mismatch_index);
  first_unequal_index = first_of(first_unequal_index, next_tile.first_unequal_index);
  finite_pairs += next_tile.finite_pairs;
  if (next_tile.max_abs_index >= 0 && (max_abs_index < 0 || next_tile.max_abs_err > max_abs_err)) {
    max_abs_target = next_tile.max_abs_target;
    max_abs_golden = next_tile.max_abs_golden;
  }
  take_larger(max_abs_err, max_abs_index, next_tile.max_abs_err, next_tile.max_abs_index);
  take_larger(max_rel_err, max_rel_index, next_tile.max_rel_err, next_tile.max_rel_index);
  sum_rel_err += next_tile.sum_rel_err;
  relative_pairs += next_tile.relative_pairs;
  merge_scaled(*this, next_tile);
  for (int k = 0; k < 4; ++k) within[k] += next_tile.within[k];
  max_ulp = next_tile.max_ulp > max_ulp ? next_tile.max_ulp : max_ulp;
  sum_ulp += next_tile.sum_ulp;
  ulp_over_threshold += next_tile.ulp_over_threshold;
  ulp_pairs += next_tile.ulp_pairs;
  target.merge(next_tile.target);
  golden.merge(next_tile.golden);
}

}  // namespace ulpscope
