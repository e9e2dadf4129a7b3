#include "measure/statistics.hpp"

#include <ulpscope/half.hpp>

#include <algorithm>
#include <cmath>

namespace ulpscope {
namespace {

std::optional<double> recorded(const ulpscope_stats& stats, Statistic which) {
  const uint32_t bit = uint32_t{1} << static_cast<uint32_t>(which);
  if ((stats.present & bit) == 0) return std::nullopt;
  switch (which) {
    case Statistic::max:
      return stats.max;
    case Statistic::min:
      return stats.min;
    case Statistic::mean:
      return stats.mean;
    case Statistic::l2norm:
      return stats.l2norm;
  }
  return std::nullopt;
}

// Largest number of the dtype; integers and bools never overflow in a statistic.
double range_of(DType dtype) {
  return is_floating(dtype) || is_complex(dtype) ? largest_finite(dtype) : largest_finite(DType::f64);
}

bool has_finite_extremes(const ulpscope_stats& stats) {
  const auto max = recorded(stats, Statistic::max), min = recorded(stats, Statistic::min);
  return max && min && std::isfinite(*max) && std::isfinite(*min);
}

// Mean and l2norm are computed in the tensor's own dtype and can overflow although no element does.
bool is_own_overflow(Statistic which, double value, const ulpscope_stats& stats, DType own, DType other) {
  if (which != Statistic::mean && which != Statistic::l2norm) return false;
  return std::isinf(value) && has_finite_extremes(stats) && range_of(own) < range_of(other);
}

// Same finite number, both NaN, or the same infinity.
bool is_equal(double target, double golden) {
  if (std::isnan(target) || std::isnan(golden)) return std::isnan(target) && std::isnan(golden);
  return !(target < golden) && !(target > golden);
}

}  // namespace

bool StatisticsComparison::any(StatisticClass kind) const {
  return std::any_of(of.begin(), of.end(), [&](const StatisticPair& pair) { return pair.kind == kind; });
}

// difference = t - g; relative = |t - g| / |g|, of finite numbers t and g.
StatisticsComparison compare_statistics(const ulpscope_stats& target, DType target_dtype,
                                        const ulpscope_stats& golden, DType golden_dtype) {
  StatisticsComparison comparison;
  for (size_t i = 0; i < kStatisticCount; ++i) {
    const auto which = static_cast<Statistic>(i);
    StatisticPair& pair = comparison.of[i];
    pair.target = recorded(target, which);
    pair.golden = recorded(golden, which);
    if (!pair.target && !pair.golden) continue;
    pair.kind = StatisticClass::unavailable;
    if (!pair.target || !pair.golden) continue;
    const double t = *pair.target, g = *pair.golden;
    if (is_equal(t, g)) {
      pair.kind = StatisticClass::equal;
      pair.difference = pair.relative = 0;
    } else if (std::isfinite(t) && std::isfinite(g)) {
      pair.kind = StatisticClass::different;
      pair.difference = t - g;
      pair.relative = std::fabs(t - g) / std::fabs(g);
    } else if (!is_own_overflow(which, t, target, target_dtype, golden_dtype) &&
               !is_own_overflow(which, g, golden, golden_dtype, target_dtype)) {
      pair.kind = StatisticClass::mismatch;
    }
  }
  return comparison;
}

std::string_view to_text(Statistic which) {
  constexpr std::string_view kNames[kStatisticCount] = {"max", "min", "mean", "l2norm"};
  return kNames[static_cast<size_t>(which)];
}

}  // namespace ulpscope
