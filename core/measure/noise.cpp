#include <algorithm>
#include <cmath>

#include "kernels/pair_metrics.hpp"
#include "measure/row_judge.hpp"

namespace ulpscope {
namespace {

// Largest ratios of errors that count as noise: those of guard level L0 of the benchmark method (mean 2, max
// 10). Histograms of two samples of one distribution overlap by far more than half; of one at twice the
// width, by two thirds.
constexpr double kMostSigma = 2, kMostLargest = 10, kMostLength = 2, kLeastOverlap = 0.5;

// Standard deviation of target - golden over finite pairs: sqrt(mean of squares - square of the mean). Of the
// difference only the means of the sides are known, over their own finite numbers.
double sigma_of(const PairSums& sums) {
  const double n = static_cast<double>(sums.finite_pairs);
  const double mean_square = std::ldexp(sums.sum_squared_err, 2 * sums.error_exponent) / n;
  if (sums.nonfinite_mismatch + sums.nonfinite_equal > 0) return std::sqrt(mean_square);
  const double mean = (std::ldexp(sums.target.sum, sums.target.exponent) -
                       std::ldexp(sums.golden.sum, sums.golden.exponent)) /
                      n;
  return std::sqrt(std::max(0.0, mean_square - mean * mean));
}

}  // namespace

std::optional<NoiseComparison> compare_noise(const DataMetrics& target, const DataMetrics& reference) {
  const PairSums &t = target.sums, &r = reference.sums;
  if (t.finite_pairs == 0 || r.finite_pairs == 0 || t.max_abs_err == 0 || r.max_abs_err == 0)
    return std::nullopt;
  NoiseComparison noise;
  const double reference_sigma = sigma_of(r);
  noise.sigma_ratio = reference_sigma == 0 ? INFINITY : sigma_of(t) / reference_sigma;
  noise.linf_ratio = t.max_abs_err / r.max_abs_err;
  noise.l2_ratio = *euclidean(t) / *euclidean(r);
  if (target.detail && reference.detail)
    noise.overlap = overlap(target.detail->errors, reference.detail->errors);
  noise.is_like_noise = noise.sigma_ratio <= kMostSigma && noise.linf_ratio <= kMostLargest &&
                        noise.l2_ratio <= kMostLength && noise.overlap >= kLeastOverlap;
  return noise;
}

}  // namespace ulpscope
