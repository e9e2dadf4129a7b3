#include "tensors/statistics.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace ulpscope {
namespace {

template <class T>
TensorStatistics of(DType dtype, const std::vector<T>& values) {
  StatisticsAccumulator accumulator(dtype);
  accumulator.add(reinterpret_cast<const std::byte*>(values.data()),
                  static_cast<int64_t>(values.size() * sizeof(T) / size_bytes(dtype)));
  return accumulator.finish();
}

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("statistics: run over the finite elements, the others are counted") {
  const TensorStatistics s = of<float>(DType::f32, {3, kNaN, -4, kInf, -kInf, 0});
  CHECK(s.elements == 6);
  CHECK(s.finite == 3);
  CHECK(s.nan_count == 1);
  CHECK(s.positive_inf == 1);
  CHECK(s.negative_inf == 1);
  CHECK(s.first_nonfinite == 1);
  CHECK(s.max == 3);
  CHECK(s.min == -4);
  CHECK(s.mean == doctest::Approx(-1.0 / 3));
  CHECK(s.l2norm == 5);  // 3, 4, 0
  CHECK(s.histogram.zeros == 1);
}

TEST_CASE("statistics: without a finite element the numbers are NaN") {
  CHECK(std::isnan(of<float>(DType::f32, {kNaN}).max));
  CHECK(std::isnan(of<float>(DType::f32, {}).l2norm));
}

TEST_CASE("statistics: squares that a double cannot hold") {
  CHECK(of<double>(DType::f64, {3e300, 4e300}).l2norm == doctest::Approx(5e300).epsilon(1e-15));
  CHECK(of<double>(DType::f64, {3e-300, 4e-300}).l2norm == doctest::Approx(5e-300).epsilon(1e-15));
  // The large one hides the small one: its square is 1e-320 of the sum.
  CHECK(of<double>(DType::f64, {1e160, 1}).l2norm == doctest::Approx(1e160).epsilon(1e-15));
}

TEST_CASE("statistics: of a complex element both parts count") {
  const TensorStatistics s = of<float>(DType::c64, {3, 4, kNaN, 0});
  CHECK(s.elements == 2);
  CHECK(s.numbers == 4);
  CHECK(s.first_nonfinite == 1);
  CHECK(s.l2norm == 5);
}

TEST_CASE("statistics: 64-bit integers keep all digits") {
  const TensorStatistics s = of<int64_t>(DType::i64, {INT64_MAX, INT64_MIN, 5});
  CHECK(s.exact_max == "9223372036854775807");
  CHECK(s.exact_min == "-9223372036854775808");
  const TensorStatistics u = of<uint64_t>(DType::u64, {UINT64_MAX, 1});
  CHECK(u.exact_max == "18446744073709551615");
  CHECK(u.exact_min == "1");
}

TEST_CASE("statistics: do not depend on where chunks end") {
  std::vector<float> values(5000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i)) * 1e3F;
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  StatisticsAccumulator whole(DType::f32), parts(DType::f32);
  whole.add(bytes, 5000);
  parts.add(bytes, 1024);
  parts.add(bytes + 4 * 1024, 3072);
  parts.add(bytes + 4 * 4096, 904);
  const TensorStatistics a = whole.finish(), b = parts.finish();
  CHECK(std::bit_cast<uint64_t>(a.mean) == std::bit_cast<uint64_t>(b.mean));
  CHECK(std::bit_cast<uint64_t>(a.l2norm) == std::bit_cast<uint64_t>(b.l2norm));
}

TEST_CASE("histogram: the smallest and the largest double have a bucket") {
  const TensorStatistics s = of<double>(DType::f64, {5e-324, 1.7976931348623157e308, -1.0});
  CHECK(s.histogram.counts.front() == 1);
  CHECK(s.histogram.counts.back() == 1);
  CHECK(s.histogram.counts[-MagnitudeHistogram::kLowest] == 1);
}

TEST_CASE("histogram text: neighbours are joined until the lines fit") {
  const TensorStatistics s = of<float>(DType::f32, {1, 2, 4, 8, 8});
  CHECK(histogram_text(s.histogram, 2, 4) == "2^0 .. 2^2  2  ###\n2^2 .. 2^4  3  ####\n");
  CHECK(histogram_text(of<float>(DType::f32, {0, 0}).histogram, 2, 4) == "all 2 are 0\n");
  CHECK(histogram_text(of<float>(DType::f32, {}).histogram, 2, 4) == "");
}

}  // namespace ulpscope
