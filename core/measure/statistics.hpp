// Compares the statistics that two dumps recorded of a tensor: max, min, mean and l2norm, each on its own.
// The result is what the similarity rules, the result writers and the localisation read; it judges nothing.
#pragma once

#include <ulpscope/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ulpscope {

enum class Statistic : uint8_t { max, min, mean, l2norm };
constexpr size_t kStatisticCount = 4;

enum class StatisticClass : uint8_t {
  absent,       // recorded on neither side
  unavailable,  // recorded on one side only, or an overflow of the statistic itself on the narrower side
  equal,        // the same number, both NaN, or infinities of one sign
  different,    // two finite numbers
  mismatch,     // NaN or an infinity against anything else
};

// One statistic of both sides.
struct StatisticPair {
  StatisticClass kind = StatisticClass::absent;
  std::optional<double> target, golden;  // as recorded
  // target - golden, and its share of |golden|: finite numbers only. Golden 0 with target not 0: relative is
  // infinite.
  std::optional<double> difference, relative;
};

struct StatisticsComparison {
  std::array<StatisticPair, kStatisticCount> of;
  const StatisticPair& operator[](Statistic which) const { return of[static_cast<size_t>(which)]; }
  // Whether any statistic is of the class.
  bool any(StatisticClass kind) const;
};

// Compares as numbers: 1 and 1.0, -0.0 and 0.0 are equal. A mean or l2norm that is infinite beside a finite
// max and min on the side whose dtype has the smaller range is unavailable: it overflowed in that dtype.
// Never fails. Any thread.
StatisticsComparison compare_statistics(const ulpscope_stats& target, DType target_dtype,
                                        const ulpscope_stats& golden, DType golden_dtype);

// "max", "min", "mean", "l2norm".
std::string_view to_text(Statistic which);

// The members that a row compared by statistics has in results, in their order there.
constexpr std::array<std::string_view, 16> kStatisticMetricNames = {
    "target_max",    "golden_max",    "target_min", "golden_min", "target_mean", "golden_mean",
    "target_l2norm", "golden_l2norm", "max_diff",   "min_diff",   "mean_diff",   "l2norm_diff",
    "max_rel",       "min_rel",       "mean_rel",   "l2norm_rel"};

// The value of such a member; nothing where it does not exist. A difference of equal statistics is 0, also
// for NaN.
inline std::optional<double> statistic_metric(const StatisticsComparison& comparison, size_t index) {
  const StatisticPair& pair =
      comparison.of[index < 2 * kStatisticCount ? index / 2 : index % kStatisticCount];
  switch (index / kStatisticCount) {
    case 0:
    case 1:
      return index % 2 == 0 ? pair.target : pair.golden;
    case 2:
      return pair.difference;
    case 3:
      return pair.relative;
    default:
      return std::nullopt;
  }
}

}  // namespace ulpscope
