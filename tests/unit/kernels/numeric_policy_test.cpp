// The numeric policy: classes of numbers, zeros, integers of 64 bits, float64 at the ends of its range, and
// what the metrics make of it. Expected numbers are worked out by hand; where that is long, the comment says
// how.
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/pair_metrics.hpp"
#include "reference.hpp"

namespace ulpscope::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T, class U = T>
PairSums sums_of(DType target_type, const std::vector<T>& target, DType golden_type,
                 const std::vector<U>& golden) {
  return measure(target_type, bytes_of(target), golden_type, bytes_of(golden));
}
PairSums f64(const std::vector<double>& target, const std::vector<double>& golden) {
  return sums_of(DType::f64, target, DType::f64, golden);
}
PairSums f32(const std::vector<float>& target, const std::vector<float>& golden) {
  return sums_of(DType::f32, target, DType::f32, golden);
}
std::vector<double> repeated(double value, size_t count) { return std::vector<double>(count, value); }

}  // namespace

TEST_CASE("policy: finite, NaN and infinities of both sides meet as the table says") {
  const double values[] = {1.5, kNan, kInf, -kInf};
  enum Outcome { kMeasured, kMismatch, kEqual };
  const Outcome table[4][4] = {{kMeasured, kMismatch, kMismatch, kMismatch},
                               {kMismatch, kEqual, kMismatch, kMismatch},
                               {kMismatch, kMismatch, kEqual, kMismatch},
                               {kMismatch, kMismatch, kMismatch, kEqual}};
  for (const DType t : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8_e5m2, DType::hif8}) {
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 4; ++k) {
        INFO(std::string(name(t)), ": target ", values[i], ", golden ", values[k]);
        Bytes target, golden;
        append(t, values[i], target);
        append(t, values[k], golden);
        const PairSums sums = measure(t, target, t, golden);
        CHECK(sums.finite_pairs == (table[i][k] == kMeasured ? 1 : 0));
        CHECK(sums.nonfinite_equal == (table[i][k] == kEqual ? 1 : 0));
        CHECK(sums.nonfinite_mismatch == (table[i][k] == kMismatch ? 1 : 0));
        CHECK(sums.first_mismatch_index == (table[i][k] == kMismatch ? 0 : -1));
        CHECK(sums.unequal == (table[i][k] == kMismatch ? 1 : 0));
        CHECK(sums.within[3] == (table[i][k] == kMismatch ? 0 : 1));
        CHECK(sums.target.finite == (i == 0 ? 1 : 0));
        CHECK(sums.golden.nan_count == (k == 1 ? 1 : 0));
        CHECK(sums.target.positive_inf == (i == 2 ? 1 : 0));
        CHECK(sums.golden.negative_inf == (k == 3 ? 1 : 0));
      }
    }
  }
}

TEST_CASE("policy: a mismatch never enters another metric") {
  const PairSums sums = f32({1, std::nanf(""), 3, 4}, {1, 2, 3, 5});
  CHECK(sums.finite_pairs == 3);
  CHECK(sums.first_mismatch_index == 1);
  CHECK(max_abs_err(sums) == 1);
  CHECK(sums.max_abs_index == 3);
  CHECK(max_rel_err(sums) == 0.2);
  CHECK(within(sums, 3) == 0.5);
  CHECK(mean(sums.target) == 8.0 / 3);
  CHECK(mean(sums.golden) == 11.0 / 4);
  CHECK(sums.squares_golden == 35);
  CHECK(sums.golden.sum_squares == 39);
}

TEST_CASE("policy: without a finite pair every metric is absent") {
  const PairSums sums = f32({std::nanf(""), INFINITY}, {std::nanf(""), 1});
  CHECK(sums.elements == 2);
  for (const Metric& metric :
       {max_abs_err(sums), mean_abs_err(sums), rmse(sums), euclidean(sums), rel_l2(sums), cosine(sums),
        snr_db(sums), max_rel_err(sums), mean_rel_err(sums), within(sums, 2), max_ulp(sums), mean_ulp(sums),
        ulp_over_threshold_rate(sums), worst(sums), max(sums.target), min(sums.target), mean(sums.target),
        l2norm(sums.target)})
    CHECK(!metric.has_value());
  CHECK(max(sums.golden) == 1);
  CHECK(inf_count(sums.target) == 1);
}

TEST_CASE("policy: no element at all has no metric") {
  const PairSums sums = f32({}, {});
  CHECK(sums.elements == 0);
  CHECK(!cosine(sums).has_value());
  CHECK(!within(sums, 1).has_value());
}

TEST_CASE("policy: golden 0 has no relative error; a target other than 0 is counted and not within") {
  const PairSums sums = f32({0, 1e-9F, -0.0F, 2}, {0, 0, 0, 2});
  CHECK(sums.golden_zero_mismatch == 1);
  CHECK(sums.relative_pairs == 1);
  CHECK(max_rel_err(sums) == 0);
  CHECK(within(sums, 0) == 0.75);
  CHECK(within(sums, 3) == 0.75);
  CHECK(sums.unequal == 1);  // -0 equals 0
}

TEST_CASE("policy: a relative error at a limit is not within") {
  const PairSums sums = f64({101, 100.5, 100.1, 100.01, 100}, {100, 100, 100, 100, 100});
  // |t - g| is 1, 0.5, 0.0999999999999943, 0.01000000000000512 and 0; limit * 100 is 1, 0.5, 0.1, 0.01.
  CHECK(sums.within[0] == 4);
  CHECK(sums.within[1] == 3);
  CHECK(sums.within[2] == 3);
  CHECK(sums.within[3] == 1);
}

TEST_CASE("policy: cosine of two zero tensors is 1, of one zero tensor absent, of opposite ones -1") {
  CHECK(cosine(f32({0, 0}, {0, -0.0F})) == 1);
  CHECK(!cosine(f32({0, 0}, {1, 0})).has_value());
  CHECK(!cosine(f32({1, 0}, {0, 0})).has_value());
  CHECK(cosine(f32({1, 2}, {-1, -2})) == doctest::Approx(-1).epsilon(1e-15));
  CHECK(cosine(f32({1, 0}, {0, 1})) == 0);
  CHECK(cosine(f32({0.1F, 0.7F, 0.3F}, {0.1F, 0.7F, 0.3F})) == 1);
}

TEST_CASE("policy: metrics of a small pair") {
  const PairSums sums = f32({1, 2, 4}, {1, 4, 2});  // errors 0 2 2; golden squares 21
  CHECK(mean_abs_err(sums) == 4.0 / 3);
  CHECK(euclidean(sums) == std::sqrt(8.0));
  CHECK(rmse(sums) == std::sqrt(8.0 / 3));
  CHECK(*rel_l2(sums) == doctest::Approx(std::sqrt(8.0 / 21)).epsilon(1e-15));
  CHECK(*cosine(sums) == doctest::Approx(17.0 / 21).epsilon(1e-15));
  CHECK(*snr_db(sums) == doctest::Approx(4.19129307).epsilon(1e-8));  // 10 log10(21 / 8)
  CHECK(max_rel_err(sums) == 1);
  CHECK(sums.max_rel_index == 2);
  CHECK(mean_rel_err(sums) == 0.5);
  CHECK(*worst(sums) == doctest::Approx(2 / std::sqrt(7.0)).epsilon(1e-15));
  CHECK(max(sums.target) == 4);
  CHECK(min(sums.target) == 1);
  CHECK(*l2norm(sums.golden) == doctest::Approx(std::sqrt(21.0)).epsilon(1e-15));
}

TEST_CASE("policy: a golden of zeros makes rel_l2 and worst absolute and snr_db absent") {
  const PairSums sums = f32({3, 4}, {0, 0});
  CHECK(rel_l2(sums) == 5);
  CHECK(worst(sums) == 4);
  CHECK(!snr_db(sums).has_value());
  CHECK(snr_db(f32({1}, {1})) == kInf);
}

TEST_CASE("policy: the worst element of a tie is the one with the lowest index") {
  std::vector<float> target(3000, 1), golden(3000, 1);
  for (const size_t i : {2900U, 1500U, 40U, 41U}) target[i] = 3;
  const PairSums sums = f32(target, golden);
  CHECK(sums.max_abs_index == 40);
  CHECK(sums.max_rel_index == 40);
  CHECK(sums.first_unequal_index == 40);
}

TEST_CASE("policy: integers near 2^63 are compared digit by digit") {
  const int64_t top = std::numeric_limits<int64_t>::max(), bottom = std::numeric_limits<int64_t>::min();
  const PairSums near = sums_of<int64_t>(DType::i64, {top, top - 1, 9007199254740993}, DType::i64,
                                         {top - 1, top - 1, 9007199254740992});
  CHECK(near.unequal == 2);
  CHECK(max_abs_err(near) == 1);
  CHECK(near.max_abs_index == 0);
  CHECK(near.sum_abs_err == 2);
  const PairSums far = sums_of<int64_t>(DType::i64, {top}, DType::i64, {bottom});
  CHECK(max_abs_err(far) == 0x1p64);
  CHECK(far.target.max == 0x1p63);
  CHECK(far.golden.min == -0x1p63);
}

TEST_CASE("policy: uint64 against int64 keeps sign and digits") {
  const uint64_t top = std::numeric_limits<uint64_t>::max();
  const PairSums sums = sums_of<uint64_t, int64_t>(
      DType::u64, {top, uint64_t{1} << 63, 7, top - 1024}, DType::i64,
      {-1, std::numeric_limits<int64_t>::max(), 7, std::numeric_limits<int64_t>::min()});
  CHECK(sums.unequal == 3);
  CHECK(sums.max_abs_err == 0x1.8p64);  // 2^64 - 1025 + 2^63, nearest double
  CHECK(sums.max_abs_index == 3);
  // 2^64 exactly, 1, 0, 1.5 * 2^64: the 1 is lost in the sum of the lanes.
  CHECK(sums.sum_abs_err == 0x1.4p65);
  const PairSums one = sums_of<uint64_t, int64_t>(DType::u64, {uint64_t{1} << 63}, DType::i64,
                                                  {std::numeric_limits<int64_t>::max()});
  CHECK(one.max_abs_err == 1);
}

TEST_CASE("policy: a 64-bit integer against a float sees one unit beyond 2^53") {
  const std::vector<int64_t> integers = {9007199254740993, 9007199254740992, -9007199254740993, 5};
  const std::vector<double> doubles = {9007199254740992, 9007199254740992, -9007199254740992, 5.25};
  const PairSums sums = sums_of<int64_t, double>(DType::i64, integers, DType::f64, doubles);
  CHECK(sums.unequal == 3);
  CHECK(sums.max_abs_err == 1);
  CHECK(sums.sum_abs_err == 2.25);
  const PairSums turned = sums_of<double, int64_t>(DType::f64, doubles, DType::i64, integers);
  CHECK(turned.unequal == 3);
  CHECK(turned.sum_abs_err == 2.25);
  const PairSums nan = sums_of<int64_t, double>(DType::i64, {1, 2, 3}, DType::f64, {kNan, 2, kInf});
  CHECK(nan.nonfinite_mismatch == 2);
  CHECK(nan.unequal == 2);
  CHECK(nan.max_abs_err == 0);
}

TEST_CASE("policy: uint64 numbers of 64 digits against float32 differ by what was rounded away") {
  const uint64_t top = std::numeric_limits<uint64_t>::max();
  const PairSums sums =
      sums_of<uint64_t, float>(DType::u64, {top, top}, DType::f32, {0x1p64F, 0x1.fffffep63F});
  CHECK(sums.max_abs_err == 0x1p40 - 1);
  CHECK(sums.max_abs_index == 1);
  CHECK(sums.sum_abs_err == 0x1p40);  // 1 + (2^40 - 1)
}

TEST_CASE("policy: a bool byte other than 0 is true") {
  const PairSums sums = sums_of<uint8_t>(DType::b8, {2, 255, 0, 1}, DType::b8, {1, 1, 0, 0});
  CHECK(sums.unequal == 1);
  CHECK(sums.first_unequal_index == 3);
  CHECK(sums.max_abs_err == 1);
  CHECK(sums.target.sum == 3);
}

TEST_CASE("policy: real and imaginary part are numbers of their own, places are those of elements") {
  const PairSums sums = sums_of<float>(DType::c64, {1, 2, 3, 4, 5, 6}, DType::c64, {1, 2, 3, 8, 5, 6});
  CHECK(sums.elements == 6);
  CHECK(sums.unequal == 1);
  CHECK(sums.max_abs_err == 4);
  CHECK(sums.max_abs_index == 1);
  const PairSums real = sums_of<float, double>(DType::c64, {1, 2, 3, 0}, DType::f64, {1, 3});
  CHECK(real.elements == 4);
  CHECK(real.max_abs_err == 2);
  CHECK(real.golden_zero_mismatch == 1);
}

TEST_CASE("policy: one unit in the last place is 1 ulp in every format, measured at golden") {
  for (const DType t : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::f8_e4m3fn, DType::f8_e5m2}) {
    for (const double golden : {1.0, 1.5, -2.0}) {
      Bytes target_bytes, golden_bytes;
      append(t, next_up(golden, t), target_bytes);
      append(t, golden, golden_bytes);
      const PairSums sums = measure(t, target_bytes, t, golden_bytes);
      INFO(std::string(name(t)), " at ", golden);
      CHECK(max_ulp(sums) ==
            (golden < 0 ? 0.5 : 1.0));  // towards 0 from a power of two the step is half as wide
      CHECK(ulp_over_threshold_rate(sums) == 0);
    }
  }
}

TEST_CASE("policy: golden 0 and subnormals count ulps at the least exponent") {
  // bf16: one subnormal step, 2^-133, is one unit at 2^-126.
  CHECK(max_ulp(sums_of<uint16_t>(DType::bf16, {1}, DType::bf16, {0})) == 1);
  CHECK(max_ulp(sums_of<uint16_t>(DType::bf16, {3}, DType::bf16, {1})) == 2);
  CHECK(max_ulp(sums_of<uint16_t>(DType::f16, {0x0001}, DType::f16, {0x8001})) == 2);
  CHECK(max_ulp(f64({0x1p-1074}, {0})) == 1);
  CHECK(max_ulp(f64({0x1.0000000000001p1023}, {0x1p1023})) == 1);
}

TEST_CASE("policy: float32 counts more than 32 ulps as over, bfloat16 more than 1") {
  const PairSums wide = f32({1 + 0x20p-23F, 1 + 0x21p-23F}, {1, 1});
  CHECK(wide.ulp_over_threshold == 1);
  CHECK(mean_ulp(wide) == 32.5);
  const PairSums narrow = sums_of<uint16_t>(DType::bf16, {0x3F81, 0x3F82}, DType::bf16, {0x3F80, 0x3F80});
  CHECK(narrow.ulp_over_threshold == 1);
}

TEST_CASE("policy: an integer target has no ulp") {
  const PairSums sums = sums_of<int32_t, float>(DType::i32, {1, 2}, DType::f32, {1, 2.5F});
  CHECK(!max_ulp(sums).has_value());
  CHECK(max_abs_err(sums) == 0.5);
}

TEST_CASE("policy: cosine and norms of float64 hold where the squares overflow") {
  const PairSums sums = f64({1e300, 2e300, 2e300}, {1e300, 2e300, 4e300});
  CHECK(*cosine(sums) == doctest::Approx(13 / std::sqrt(9.0 * 21.0)).epsilon(1e-15));
  CHECK(*euclidean(sums) == doctest::Approx(2e300).epsilon(1e-15));
  CHECK(*rel_l2(sums) == doctest::Approx(2 / std::sqrt(21.0)).epsilon(1e-15));
  CHECK(*rmse(sums) == doctest::Approx(2e300 / std::sqrt(3.0)).epsilon(1e-15));
  CHECK(*l2norm(sums.target) == doctest::Approx(3e300).epsilon(1e-15));
  CHECK(*mean(sums.golden) == doctest::Approx(7e300 / 3).epsilon(1e-15));
  CHECK(*snr_db(sums) == doctest::Approx(10 * std::log10(21.0 / 4)).epsilon(1e-12));
}

TEST_CASE("policy: cosine and norms of float64 hold where the squares underflow") {
  const PairSums sums = f64({1e-300, 2e-300, 2e-300}, {1e-300, 2e-300, 4e-300});
  CHECK(*cosine(sums) == doctest::Approx(13 / std::sqrt(9.0 * 21.0)).epsilon(1e-15));
  CHECK(*euclidean(sums) == doctest::Approx(2e-300).epsilon(1e-15));
  CHECK(*rel_l2(sums) == doctest::Approx(2 / std::sqrt(21.0)).epsilon(1e-15));
  CHECK(*l2norm(sums.golden) == doctest::Approx(std::sqrt(21.0) * 1e-300).epsilon(1e-15));
  const PairSums least = f64({0x1p-1074, 0}, {0x1p-1074, 0x1p-1074});
  CHECK(*cosine(least) == doctest::Approx(std::sqrt(0.5)).epsilon(1e-15));
  CHECK(*euclidean(least) == 0x1p-1074);
}

TEST_CASE("policy: a huge and a tiny side still have their angle") {
  const PairSums sums = f64({3e200, 4e200}, {3e-200, 4e-200});
  CHECK(*cosine(sums) == doctest::Approx(1).epsilon(1e-15));
  CHECK(*rel_l2(sums) == kInf);  // 1e400
}

TEST_CASE("policy: blocks of different size in one float64 tensor add up") {
  std::vector<double> values = repeated(1e-200, 1024);
  const std::vector<double> large = repeated(1e200, 1024), zero = repeated(0, 1024);
  values.insert(values.end(), zero.begin(), zero.end());
  values.insert(values.end(), large.begin(), large.end());
  std::vector<double> golden = values;
  golden[2500] = 2e200;
  const PairSums sums = f64(values, golden);
  CHECK(*l2norm(sums.target) == doctest::Approx(32e200).epsilon(1e-15));
  CHECK(*cosine(sums) == doctest::Approx(1025 / std::sqrt(1024.0 * 1027.0)).epsilon(1e-14));
  CHECK(*euclidean(sums) == doctest::Approx(1e200).epsilon(1e-15));
  std::vector<double> small(2048, 0);
  for (size_t i = 0; i < 1024; ++i) small[i] = 1e-200;
  CHECK(*l2norm(f64(small, small).target) == doctest::Approx(32e-200).epsilon(1e-15));
}

TEST_CASE("policy: a difference beyond the largest double is infinite, its ratios are not") {
  const double top = std::numeric_limits<double>::max();
  const PairSums sums = f64({top, 1}, {-top, 1});
  CHECK(max_abs_err(sums) == kInf);
  CHECK(sums.max_abs_index == 0);
  CHECK(max_rel_err(sums) == 2);
  CHECK(sums.within[0] == 1);
  CHECK(*cosine(sums) == doctest::Approx(-1).epsilon(1e-15));
  CHECK(*rel_l2(sums) == doctest::Approx(2).epsilon(1e-15));
  CHECK(sums.finite_pairs == 2);
  CHECK(*max_ulp(sums) == doctest::Approx(0x1p54).epsilon(1e-15));  // 2 * (2^53 - 1) units of 2^971
}

TEST_CASE("policy: NaN beside extreme float64 leaves the pair's sums in range") {
  const PairSums sums = f64({1e300, 1e-200, 3e-200}, {kNan, 1e-200, 4e-200});
  CHECK(*rel_l2(sums) == doctest::Approx(1 / std::sqrt(17.0)).epsilon(1e-14));
  CHECK(*l2norm(sums.target) == doctest::Approx(1e300).epsilon(1e-15));
  CHECK(*cosine(sums) == doctest::Approx(13 / std::sqrt(170.0)).epsilon(1e-14));
}

TEST_CASE("policy: all-zero float64 stays in plain units") {
  const PairSums sums = f64(repeated(0, 2048), repeated(-0.0, 2048));
  CHECK(sums.target_exponent == 0);
  CHECK(cosine(sums) == 1);
  CHECK(std::signbit(sums.golden.max) == false);
}

}  // namespace ulpscope::test
