// Quantiles, worst elements and the share of outliers of the detail pass.
#include "kernels/detail_pass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "reference.hpp"

namespace ulpscope::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

DetailSums detail_of(const std::vector<double>& target, const std::vector<double>& golden,
                     DetailScale scale = {}) {
  DetailSums sums;
  const Bytes t = bytes_of(target), g = bytes_of(golden);
  DetailKernel::choose(DType::f64, DType::f64, scale)
      .value()
      .run(t.data(), g.data(), static_cast<int64_t>(target.size()), 0, sums);
  return sums;
}

std::vector<int64_t> worst_indexes(const DetailSums& sums) {
  std::vector<int64_t> all;
  for (size_t i = 0; i < sums.worst_count; ++i) all.push_back(sums.worst[i].index);
  return all;
}

}  // namespace

TEST_CASE("detail: quantiles lie within 1/16 of an octave of the sorted errors'") {
  Random random(1);
  std::vector<double> target(5000), golden(5000, 0), sorted;
  for (double& v : target) v = std::exp2(20 * random.unit());
  sorted = target;
  std::sort(sorted.begin(), sorted.end());
  const DetailSums sums = detail_of(target, golden);
  for (const double share : {0.5, 0.9, 0.99, 0.999}) {
    const double exact = sorted[static_cast<size_t>(std::ceil(share * 5000)) - 1];
    CAPTURE(share);
    CHECK(std::fabs(std::log2(*sums.errors.quantile(share) / exact)) <= 1.0 / 16);
  }
}

TEST_CASE("detail: zeros and infinite errors are quantiles as they are") {
  const double top = std::numeric_limits<double>::max();
  const DetailSums sums = detail_of({1, 1, top}, {1, 1, -top});
  CHECK(sums.errors.quantile(0.5) == 0);
  CHECK(sums.errors.quantile(0.999) == kInf);
  CHECK(!ErrorHistogram().quantile(0.5).has_value());
}

TEST_CASE("detail: octaves count what lies between powers of two") {
  ErrorHistogram errors;
  for (const double error : {0.0, 0.0, 0.25, 0.3, 0.49, 1.0, 3.0, 3.9, kInf}) errors.add(error);
  ErrorOctaves octaves{7, 7, {7}};
  errors.octaves(octaves);
  CHECK(octaves.first == -2);
  CHECK(octaves.zeros == 2);
  CHECK(octaves.counts == std::vector<int64_t>{3, 0, 1, 2});
  ErrorHistogram().octaves(octaves);
  CHECK(octaves.zeros == 0);
  CHECK(octaves.counts.empty());
}

TEST_CASE("detail: a histogram merged from two equals the one of all errors") {
  ErrorHistogram all, first, second;
  Random random(2);
  for (int i = 0; i < 4000; ++i) {
    const double error = std::exp2(300 * random.unit());
    all.add(error);
    (error < 1 ? first : second).add(error);
  }
  second.merge(first);
  CHECK(second.count() == 4000);
  for (int percent = 0; percent <= 100; ++percent)
    CHECK(second.quantile(percent / 100.0) == all.quantile(percent / 100.0));
}

TEST_CASE("detail: the worst four come largest first, ties by index") {
  const DetailSums sums = detail_of({1, 5, 3, 5, 2, 9, 0}, {0, 0, 0, 0, 0, 0, 0});
  CHECK(worst_indexes(sums) == std::vector<int64_t>{5, 1, 3, 2});
  CHECK(sums.worst[0].target == 9);
  CHECK(sums.worst[0].error == 9);
}

TEST_CASE(
    "detail: nonfinite mismatches rank above every error; equal NaN and equal numbers are not among the "
    "worst") {
  const double nan = std::nan("");
  const DetailSums sums = detail_of({1e300, nan, nan, 4, kInf}, {0, nan, 2, 4, -kInf});
  CHECK(worst_indexes(sums) == std::vector<int64_t>{2, 4, 0});
  CHECK(sums.worst[0].nonfinite_mismatch);
  CHECK(!sums.worst[2].nonfinite_mismatch);
  CHECK(sums.finite_pairs == 2);
}

TEST_CASE("detail: above counts errors beyond 8 u max(|golden|, rms), strictly") {
  // u = 2^-8, rms 2: the limit is 8/256 * max(|g|, 2): 1/16 for golden up to 2, 1/8 for golden 4.
  const DetailScale scale{unit_roundoff(DType::bf16), 2};
  const DetailSums sums = detail_of({0.0625, 1.0626, 4.125, 4.126, 0}, {0, 1, 4, 4, 0}, scale);
  CHECK(sums.above == 2);
  CHECK(fraction_above(sums) == 0.4);
  CHECK(!fraction_above(DetailSums()).has_value());
}

TEST_CASE("detail: tiles merged in order equal one pass") {
  Bytes target, golden;
  make_sides(DType::f32, DType::bf16, 5000, true, 3, target, golden);
  const DetailKernel kernel = DetailKernel::choose(DType::f32, DType::bf16, {0x1p-8, 1}).value();
  DetailSums whole, merged;
  kernel.run(target.data(), golden.data(), 5000, 0, whole);
  for (int64_t first = 0; first < 5000; first += 1024) {
    DetailSums tile;
    kernel.run(target.data() + 4 * first, golden.data() + 2 * first, std::min<int64_t>(1024, 5000 - first),
               first, tile);
    merged.merge(tile);
  }
  CHECK(worst_indexes(merged) == worst_indexes(whole));
  CHECK(merged.above == whole.above);
  CHECK(merged.finite_pairs == whole.finite_pairs);
  for (const double share : {0.1, 0.5, 0.9, 0.99, 0.999})
    CHECK(merged.errors.quantile(share) == whole.errors.quantile(share));
}

TEST_CASE("detail: integers beyond 2^53 have their exact error, complex elements their own index") {
  DetailSums integers, complex;
  const Bytes a = bytes_of<int64_t>({9007199254740993, 5}), b = bytes_of<int64_t>({9007199254740992, 5});
  DetailKernel::choose(DType::i64, DType::i64, {}).value().run(a.data(), b.data(), 2, 100, integers);
  REQUIRE(integers.worst_count == 1);
  CHECK(integers.worst[0].error == 1);
  CHECK(integers.worst[0].index == 100);
  const Bytes c = bytes_of<float>({1, 2, 3, 4}), d = bytes_of<float>({1, 2, 3, 5});
  DetailKernel::choose(DType::c64, DType::c64, {}).value().run(c.data(), d.data(), 2, 0, complex);
  CHECK(worst_indexes(complex) == std::vector<int64_t>{1});
  CHECK(complex.finite_pairs == 4);
}

TEST_CASE("detail: a packed type is unsupported") {
  const Result<DetailKernel> kernel = DetailKernel::choose(DType::i4x2, DType::i4x2, {});
  REQUIRE(!kernel.ok());
  CHECK(kernel.error().code == Code::unsupported);
}

}  // namespace ulpscope::test
