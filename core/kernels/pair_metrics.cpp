#include "kernels/pair_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope {
namespace {

double count(int64_t n) { return static_cast<double>(n); }

bool has_pairs(const PairSums& sums) { return sums.finite_pairs > 0; }
bool measured(const PairSums& sums, MetricGroups group) { return (sums.groups & group) != 0; }
bool has_relative(const PairSums& sums) { return measured(sums, kGroupRelative) && sums.relative_pairs > 0; }
bool has_ulp(const PairSums& sums) { return measured(sums, kGroupUlp) && sums.ulp_pairs > 0; }

// |t - g|2 and |g|2, each in units of its exponent.
double error_norm(const PairSums& sums) { return std::sqrt(sums.sum_squared_err); }
double golden_norm(const PairSums& sums) { return std::sqrt(sums.squares_golden); }

}  // namespace

Metric max_abs_err(const PairSums& sums) {
  if (!has_pairs(sums)) return std::nullopt;
  return sums.max_abs_err;
}

Metric mean_abs_err(const PairSums& sums) {
  if (!has_pairs(sums)) return std::nullopt;
  return std::ldexp(sums.sum_abs_err / count(sums.finite_pairs), sums.error_exponent);
}

Metric rmse(const PairSums& sums) {
  if (!has_pairs(sums)) return std::nullopt;
  return std::ldexp(std::sqrt(sums.sum_squared_err / count(sums.finite_pairs)), sums.error_exponent);
}

Metric euclidean(const PairSums& sums) {
  if (!has_pairs(sums)) return std::nullopt;
  return std::ldexp(error_norm(sums), sums.error_exponent);
}

Metric rel_l2(const PairSums& sums) {
  if (!has_pairs(sums)) return std::nullopt;
  if (sums.squares_golden == 0) return euclidean(sums);
  return std::ldexp(error_norm(sums) / golden_norm(sums), sums.error_exponent - sums.golden_exponent);
}

Metric cosine(const PairSums& sums) {
  if (!has_pairs(sums)) return std::nullopt;
  const bool target_zero = sums.squares_target == 0, golden_zero = sums.squares_golden == 0;
  if (target_zero && golden_zero) return 1.0;
  if (target_zero || golden_zero) return std::nullopt;
  // Equal tensors have three equal sums, but the product of two square roots may round past one of them.
  if (sums.unequal == sums.nonfinite_mismatch) return 1.0;
  // The powers of two of the sums cancel.
  const double value = sums.dot / (std::sqrt(sums.squares_target) * golden_norm(sums));
  return std::clamp(value, -1.0, 1.0);
}

Metric snr_db(const PairSums& sums) {
  if (!has_pairs(sums) || sums.squares_golden == 0) return std::nullopt;
  if (sums.sum_squared_err == 0) return std::numeric_limits<double>::infinity();
  const double decibels_of_two = 20 * std::log10(2.0);
  return 10 * (std::log10(sums.squares_golden) - std::log10(sums.sum_squared_err)) +
         decibels_of_two * (sums.golden_exponent - sums.error_exponent);
}

Metric max_rel_err(const PairSums& sums) {
  if (!has_relative(sums)) return std::nullopt;
  return sums.max_rel_err;
}

Metric mean_rel_err(const PairSums& sums) {
  if (!has_relative(sums)) return std::nullopt;
  return sums.sum_rel_err / count(sums.relative_pairs);
}

Metric within(const PairSums& sums, int limit) {
  const bool always = limit == 1 || limit == 2;
  if (limit < 0 || limit > 3 || !has_pairs(sums)) return std::nullopt;
  if (!always && !measured(sums, kGroupRelative)) return std::nullopt;
  return count(sums.within[limit]) / count(sums.elements);
}

Metric max_ulp(const PairSums& sums) {
  if (!has_ulp(sums)) return std::nullopt;
  return sums.max_ulp;
}

Metric mean_ulp(const PairSums& sums) {
  if (!has_ulp(sums)) return std::nullopt;
  return sums.sum_ulp / count(sums.ulp_pairs);
}

Metric ulp_over_threshold_rate(const PairSums& sums) {
  if (!has_ulp(sums)) return std::nullopt;
  return count(sums.ulp_over_threshold) / count(sums.ulp_pairs);
}

Metric max(const SideSums& side) {
  if (side.finite == 0) return std::nullopt;
  return side.max;
}

Metric min(const SideSums& side) {
  if (side.finite == 0) return std::nullopt;
  return side.min;
}

Metric mean(const SideSums& side) {
  if (side.finite == 0) return std::nullopt;
  return std::ldexp(side.sum / count(side.finite), side.exponent);
}

Metric l2norm(const SideSums& side) {
  if (side.finite == 0) return std::nullopt;
  return std::ldexp(std::sqrt(side.sum_squares), side.exponent);
}

int64_t inf_count(const SideSums& side) { return side.positive_inf + side.negative_inf; }

Metric worst(const PairSums& sums) {
  if (!has_pairs(sums)) return std::nullopt;
  if (sums.squares_golden == 0) return sums.max_abs_err;
  const double mean_square = std::sqrt(sums.squares_golden / count(sums.finite_pairs));
  return std::ldexp(sums.max_abs_err / mean_square, -sums.golden_exponent);
}

}  // namespace ulpscope
