#include "report/metrics.hpp"

#include <array>
#include <cstddef>

#include "kernels/pair_metrics.hpp"

namespace ulpscope {
namespace {

// A count of the pass over the elements.
template <int64_t PairSums::*member>
Metric count(const RowNumbers& numbers) {
  if (numbers.data == nullptr) return std::nullopt;
  return static_cast<double>(numbers.data->sums.*member);
}

// A metric that the kernels' sums give.
template <Metric (*formula)(const PairSums&)>
Metric from_sums(const RowNumbers& numbers) {
  return numbers.data == nullptr ? std::nullopt : formula(numbers.data->sums);
}

// The share of elements below a limit of kWithinLimits.
template <int limit>
Metric within_limit(const RowNumbers& numbers) {
  return numbers.data == nullptr ? std::nullopt : within(numbers.data->sums, limit);
}

// An index is absent where there is none.
Metric first_mismatch(const RowNumbers& numbers) {
  if (numbers.data == nullptr || numbers.data->sums.first_mismatch_index < 0) return std::nullopt;
  return static_cast<double>(numbers.data->sums.first_mismatch_index);
}

// A member of kStatisticMetricNames.
template <size_t index>
Metric recorded(const RowNumbers& numbers) {
  return numbers.statistics == nullptr ? std::nullopt : statistic_metric(*numbers.statistics, index);
}

// A statistic of one side: over its finite elements where there is data, else as recorded.
template <SideSums PairSums::*side, Metric (*formula)(const SideSums&), size_t index>
Metric statistic(const RowNumbers& numbers) {
  return numbers.data != nullptr ? formula(numbers.data->sums.*side) : recorded<index>(numbers);
}

template <SideSums PairSums::*side>
Metric nan_count(const RowNumbers& numbers) {
  if (numbers.data == nullptr) return std::nullopt;
  return static_cast<double>((numbers.data->sums.*side).nan_count);
}

template <SideSums PairSums::*side>
Metric infinity_count(const RowNumbers& numbers) {
  if (numbers.data == nullptr) return std::nullopt;
  return static_cast<double>(inf_count(numbers.data->sums.*side));
}

// An error that per_mille of a thousand pairs do not exceed; from the second pass.
template <int per_mille>
Metric error_quantile(const RowNumbers& numbers) {
  if (numbers.data == nullptr || !numbers.data->detail) return std::nullopt;
  return numbers.data->detail->errors.quantile(per_mille / 1000.0);
}

// Of the elements as distributions, where they were measured.
template <double DistributionMetrics::*member>
Metric distribution(const RowNumbers& numbers) {
  if (numbers.data == nullptr || !numbers.data->distribution) return std::nullopt;
  return (*numbers.data->distribution).*member;
}

// sum |t - g| / |g| over golden not 0: belongs to the same tables.
Metric accumulated_relative_error(const RowNumbers& numbers) {
  if (numbers.data == nullptr || !numbers.data->distribution || numbers.data->sums.relative_pairs == 0 ||
      (numbers.data->sums.groups & kGroupRelative) == 0)
    return std::nullopt;
  return numbers.data->sums.sum_rel_err;
}

// Positions in kStatisticMetricNames.
enum : size_t {
  kTargetMax,
  kGoldenMax,
  kTargetMin,
  kGoldenMin,
  kTargetMean,
  kGoldenMean,
  kTargetNorm,
  kGoldenNorm,
  kMaxDiff,
  kMinDiff,
  kMeanDiff,
  kNormDiff,
  kMaxRel,
  kMinRel,
  kMeanRel,
  kNormRel
};

constexpr std::array kColumns = {
    MetricColumn{"elements", MetricSource::elements, count<&PairSums::elements>},
    MetricColumn{"unequal", MetricSource::elements, count<&PairSums::unequal>},
    MetricColumn{"max_abs_err", MetricSource::elements, from_sums<max_abs_err>},
    MetricColumn{"mean_abs_err", MetricSource::elements, from_sums<mean_abs_err>},
    MetricColumn{"max_rel_err", MetricSource::elements, from_sums<max_rel_err>},
    MetricColumn{"mean_rel_err", MetricSource::elements, from_sums<mean_rel_err>},
    MetricColumn{"rmse", MetricSource::elements, from_sums<rmse>},
    MetricColumn{"rel_l2", MetricSource::elements, from_sums<rel_l2>},
    MetricColumn{"euclidean", MetricSource::elements, from_sums<euclidean>},
    MetricColumn{"cosine", MetricSource::elements, from_sums<cosine>},
    MetricColumn{"kl_divergence", MetricSource::elements, distribution<&DistributionMetrics::kl_divergence>},
    MetricColumn{"snr_db", MetricSource::elements, from_sums<snr_db>},
    MetricColumn{"within_1e-2", MetricSource::elements, within_limit<0>},
    MetricColumn{"within_5e-3", MetricSource::elements, within_limit<1>},
    MetricColumn{"within_1e-3", MetricSource::elements, within_limit<2>},
    MetricColumn{"within_1e-4", MetricSource::elements, within_limit<3>},
    MetricColumn{"max_ulp", MetricSource::elements, from_sums<max_ulp>},
    MetricColumn{"mean_ulp", MetricSource::elements, from_sums<mean_ulp>},
    MetricColumn{"ulp_over_threshold_rate", MetricSource::elements, from_sums<ulp_over_threshold_rate>},
    MetricColumn{"nonfinite_mismatch", MetricSource::elements, count<&PairSums::nonfinite_mismatch>},
    MetricColumn{"nonfinite_equal", MetricSource::elements, count<&PairSums::nonfinite_equal>},
    MetricColumn{"golden_zero_mismatch", MetricSource::elements, count<&PairSums::golden_zero_mismatch>},
    MetricColumn{"first_mismatch_index", MetricSource::elements, first_mismatch},
    MetricColumn{"target_max", MetricSource::either, statistic<&PairSums::target, max, kTargetMax>},
    MetricColumn{"golden_max", MetricSource::either, statistic<&PairSums::golden, max, kGoldenMax>},
    MetricColumn{"target_min", MetricSource::either, statistic<&PairSums::target, min, kTargetMin>},
    MetricColumn{"golden_min", MetricSource::either, statistic<&PairSums::golden, min, kGoldenMin>},
    MetricColumn{"target_mean", MetricSource::either, statistic<&PairSums::target, mean, kTargetMean>},
    MetricColumn{"golden_mean", MetricSource::either, statistic<&PairSums::golden, mean, kGoldenMean>},
    MetricColumn{"target_l2norm", MetricSource::either, statistic<&PairSums::target, l2norm, kTargetNorm>},
    MetricColumn{"golden_l2norm", MetricSource::either, statistic<&PairSums::golden, l2norm, kGoldenNorm>},
    MetricColumn{"target_nan_count", MetricSource::elements, nan_count<&PairSums::target>},
    MetricColumn{"golden_nan_count", MetricSource::elements, nan_count<&PairSums::golden>},
    MetricColumn{"target_inf_count", MetricSource::elements, infinity_count<&PairSums::target>},
    MetricColumn{"golden_inf_count", MetricSource::elements, infinity_count<&PairSums::golden>},
    MetricColumn{"abs_err_p50", MetricSource::elements, error_quantile<500>},
    MetricColumn{"abs_err_p90", MetricSource::elements, error_quantile<900>},
    MetricColumn{"abs_err_p99", MetricSource::elements, error_quantile<990>},
    MetricColumn{"abs_err_p999", MetricSource::elements, error_quantile<999>},
    MetricColumn{"acc_rel_err", MetricSource::elements, accumulated_relative_error},
    MetricColumn{"target_std", MetricSource::elements, distribution<&DistributionMetrics::target_std>},
    MetricColumn{"golden_std", MetricSource::elements, distribution<&DistributionMetrics::golden_std>},
    MetricColumn{"max_diff", MetricSource::statistics, recorded<kMaxDiff>},
    MetricColumn{"min_diff", MetricSource::statistics, recorded<kMinDiff>},
    MetricColumn{"mean_diff", MetricSource::statistics, recorded<kMeanDiff>},
    MetricColumn{"l2norm_diff", MetricSource::statistics, recorded<kNormDiff>},
    MetricColumn{"max_rel", MetricSource::statistics, recorded<kMaxRel>},
    MetricColumn{"min_rel", MetricSource::statistics, recorded<kMinRel>},
    MetricColumn{"mean_rel", MetricSource::statistics, recorded<kMeanRel>},
    MetricColumn{"l2norm_rel", MetricSource::statistics, recorded<kNormRel>},
};

}  // namespace

std::span<const MetricColumn> metric_columns() { return kColumns; }

}  // namespace ulpscope
