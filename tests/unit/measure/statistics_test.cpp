#include "measure/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace ulpscope {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr uint32_t kAll = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_MEAN | ULPSCOPE_STAT_L2;

// The l2norm of both sides; the other statistics are the same ordinary numbers.
StatisticPair norms(double target, double golden, DType target_dtype = DType::f32,
                    DType golden_dtype = DType::f32) {
  return compare_statistics({kAll, 0, 1, -1, 0.5, target}, target_dtype, {kAll, 0, 1, -1, 0.5, golden},
                            golden_dtype)[Statistic::l2norm];
}

}  // namespace

TEST_CASE("statistics: two finite numbers give a difference and its share of golden") {
  const StatisticPair pair = norms(1.5, -2);
  CHECK(pair.kind == StatisticClass::different);
  CHECK(pair.difference == 3.5);
  CHECK(pair.relative == 1.75);
}

TEST_CASE("statistics: golden 0 makes the relative difference infinite only when target is not 0") {
  CHECK(norms(1e-8, 0).relative == kInf);
  CHECK(norms(0, 0).relative == 0.0);
  CHECK(norms(-0.0, 0.0).kind == StatisticClass::equal);
}

TEST_CASE("statistics: classes of NaN and infinity") {
  CHECK(norms(kNaN, kNaN).kind == StatisticClass::equal);
  CHECK(norms(kInf, kInf).kind == StatisticClass::equal);
  CHECK(norms(-kInf, -kInf).difference == 0.0);
  CHECK(norms(kNaN, 1).kind == StatisticClass::mismatch);
  CHECK(norms(1, kNaN).kind == StatisticClass::mismatch);
  CHECK(norms(kNaN, kInf).kind == StatisticClass::mismatch);
  CHECK(norms(kInf, -kInf).kind == StatisticClass::mismatch);
  CHECK(norms(kInf, 1).kind == StatisticClass::mismatch);
  CHECK_FALSE(norms(kInf, 1).difference.has_value());
  CHECK_FALSE(norms(kInf, 1).relative.has_value());
}

TEST_CASE("statistics: an infinite norm beside finite extremes is unavailable on the narrower side only") {
  CHECK(norms(kInf, 70000, DType::f16, DType::f32).kind == StatisticClass::unavailable);
  CHECK(norms(70000, kInf, DType::f32, DType::f16).kind == StatisticClass::unavailable);
  CHECK(norms(kInf, 70000, DType::f32, DType::f16).kind == StatisticClass::mismatch);
  CHECK(norms(kInf, 64000, DType::f16, DType::f16).kind == StatisticClass::mismatch);
  const StatisticsComparison infinite_max =
      compare_statistics({kAll, 0, kInf, -1, kInf, kInf}, DType::f16, {kAll, 0, 70000, -1, 9, 9}, DType::f32);
  CHECK(infinite_max[Statistic::max].kind == StatisticClass::mismatch);
  CHECK(infinite_max[Statistic::mean].kind == StatisticClass::mismatch);
}

TEST_CASE("statistics: recorded on one side only is unavailable, on neither side absent") {
  const StatisticsComparison comparison =
      compare_statistics({ULPSCOPE_STAT_MAX, 0, 7, 0, 0, 0}, DType::i64, {kAll, 0, 7, 1, 2, 3}, DType::i64);
  CHECK(comparison[Statistic::max].kind == StatisticClass::equal);
  CHECK(comparison[Statistic::min].kind == StatisticClass::unavailable);
  CHECK(comparison[Statistic::min].golden == 1.0);
  CHECK_FALSE(comparison[Statistic::min].target.has_value());
  CHECK(comparison.any(StatisticClass::unavailable));
  CHECK_FALSE(comparison.any(StatisticClass::different));
  CHECK(compare_statistics({}, DType::f32, {}, DType::f32)[Statistic::max].kind == StatisticClass::absent);
}

TEST_CASE("statistics: members of results stand under their names") {
  const StatisticsComparison comparison =
      compare_statistics({kAll, 0, 3, kNaN, 1, 4}, DType::f32, {kAll, 0, 2, 5, 1, 8}, DType::f32);
  const auto member = [&](std::string_view wanted) {
    for (size_t i = 0; i < kStatisticMetricNames.size(); ++i)
      if (kStatisticMetricNames[i] == wanted) return statistic_metric(comparison, i);
    FAIL("no such member");
    return std::optional<double>();
  };
  CHECK(member("target_max") == 3.0);
  CHECK(member("golden_max") == 2.0);
  CHECK(member("golden_l2norm") == 8.0);
  CHECK(std::isnan(member("target_min").value()));
  CHECK(member("max_diff") == 1.0);
  CHECK(member("mean_diff") == 0.0);
  CHECK(member("max_rel") == 0.5);
  CHECK(member("l2norm_rel") == 0.5);
  CHECK_FALSE(member("min_diff").has_value());
  CHECK_FALSE(member("min_rel").has_value());
  CHECK_FALSE(statistic_metric(comparison, 16).has_value());
}

}  // namespace ulpscope
