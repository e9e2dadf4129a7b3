// The visiting order and the exact integers of elementwise.hpp.
#include <ulpscope/elementwise.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ulpscope {
namespace {

template <class T>
ulpscope_view view_of(const std::vector<T>& values, DType t, uint64_t count) {
  return {values.data(), count, static_cast<int32_t>(t), 0};
}
template <class T>
ulpscope_view view_of(const std::vector<T>& values, DType t) {
  return view_of(values, t, values.size());
}

double sum_of(const ulpscope_view& actual, const ulpscope_view& golden) {
  double sum = 0;
  visit_blocks(actual, golden, [&](const PairBlock& block) {
    sum += lane_sum(block, [](double a, double g) { return a - g; });
  });
  return sum;
}

std::string message_of(const ulpscope_view& actual, const ulpscope_view& golden) {
  try {
    visit_blocks(actual, golden, [](const PairBlock&) {});
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "nothing thrown";
}

}  // namespace

TEST_CASE("elementwise: a sum follows the lane tree, not the order of the elements") {
  // Lane 0 holds 2^53 and eight times 1, each lost against it; the ones of lane 8 are added among themselves
  // first.
  std::vector<double> values(144, 0.0), zeros(144, 0.0);
  values[0] = 0x1p53;
  for (size_t row = 1; row < 9; ++row) values[row * 16] = 1;
  for (size_t row = 0; row < 9; ++row) values[row * 16 + 8] = 1;
  // Lane 0: 2^53 (each + 1 rounds back to even). Lane 8: 9. 2^53 + 9 is a tie that goes to even: 2^53 + 8.
  CHECK(sum_of(view_of(values, DType::f64), view_of(zeros, DType::f64)) == 0x1p53 + 8);
}

TEST_CASE("elementwise: blocks come in order, 1024 numbers each, the rest last") {
  const std::vector<float> values(2500, 1.0F);
  std::vector<uint64_t> firsts;
  std::vector<uint32_t> counts;
  visit_blocks(view_of(values, DType::f32), view_of(values, DType::f32), [&](const PairBlock& block) {
    firsts.push_back(block.first);
    counts.push_back(block.count);
  });
  CHECK(firsts == std::vector<uint64_t>{0, 1024, 2048});
  CHECK(counts == std::vector<uint32_t>{1024, 1024, 452});
}

TEST_CASE("elementwise: types mix, each widened exactly") {
  const std::vector<uint16_t> halves = {0x3c00, 0xc000, 0x7c00};  // 1, -2, infinity
  const std::vector<int8_t> bytes = {-128, 127, 3};
  std::vector<double> seen;
  visit_blocks(view_of(halves, DType::f16), view_of(bytes, DType::i8), [&](const PairBlock& block) {
    for (uint32_t i = 0; i < block.count; ++i) {
      seen.push_back(block.actual[i]);
      seen.push_back(block.golden[i]);
    }
  });
  CHECK(seen == std::vector<double>{1, -128, -2, 127, std::numeric_limits<double>::infinity(), 3});
}

TEST_CASE("elementwise: a complex element is two numbers, beside a real one with imaginary part 0") {
  const std::vector<float> complex = {1, 2, 3, 4};
  const std::vector<double> real = {5, 6};
  std::vector<double> actual, golden;
  visit_blocks(view_of(complex, DType::c64, 2), view_of(real, DType::f64), [&](const PairBlock& block) {
    actual.assign(block.actual, block.actual + block.count);
    golden.assign(block.golden, block.golden + block.count);
  });
  CHECK(actual == std::vector<double>{1, 2, 3, 4});
  CHECK(golden == std::vector<double>{5, 0, 6, 0});
}

TEST_CASE("elementwise: every widenable type reads its own bytes") {
  const std::vector<unsigned char> bytes = {0x38, 0xC0, 0x00, 0x40, 0x00, 0x00, 0x00, 0x40,
                                            0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40};
  const auto first = [&](DType t) {
    double values[32] = {};
    CHECK(widen(t, bytes.data(), 1, values));
    return values[0];
  };
  CHECK(first(DType::b8) == 1);  // any byte but 0
  CHECK(first(DType::u8) == 0x38);
  CHECK(first(DType::i8) == 0x38);
  CHECK(first(DType::u16) == 0xC038);
  CHECK(first(DType::i16) == 0xC038 - 65536);
  CHECK(first(DType::u32) == 0x4000C038);
  CHECK(first(DType::i32) == 0x4000C038);
  CHECK(first(DType::u64) == 0x1p62 + 0x4000C038);  // rounded once
  CHECK(first(DType::i64) == 0x1p62 + 0x4000C038);
  CHECK(first(DType::f16) == -2.109375);  // 1 10000 0000111000
  CHECK(first(DType::bf16) == -2.875);    // 1 10000000 0111000
  CHECK(first(DType::c32) == -2.109375);
  CHECK(first(DType::f8_e4m3fn) == 1);  // 0 0111 000
  CHECK(first(DType::f8_e5m2) == 0.5);  // 0 01110 00
  CHECK(first(DType::f8_e8m0) == 0x1p-71);
  CHECK(first(DType::hif8) == 0.125);  // 0 01 11 000: exponent -3
  CHECK(first(DType::f8_e4m3fnuz) == 0.5);
  CHECK(first(DType::f8_e5m2fnuz) == 0.25);
  double untouched = 7;
  CHECK(!widen(DType::i4x2, bytes.data(), 1, &untouched));
  CHECK(!widen(DType::none, bytes.data(), 1, &untouched));
  CHECK(untouched == 7);
}

TEST_CASE("elementwise: integers beyond 2^53 keep every digit in visit_integers") {
  const std::vector<uint64_t> actual = {0xFFFFFFFFFFFFFFFFU, 9007199254740993U, 5};
  const std::vector<int64_t> golden = {std::numeric_limits<int64_t>::min(), 9007199254740992, 5};
  std::vector<double> distances;
  std::vector<bool> equal;
  visit_integers(view_of(actual, DType::u64), view_of(golden, DType::i64),
                 [&](uint64_t, ExactInteger a, ExactInteger g) {
                   distances.push_back(distance(a, g));
                   equal.push_back(a == g);
                 });
  CHECK(distances == std::vector<double>{0x1.8p64, 1, 0});  // 2^64 - 1 + 2^63 rounds to 1.5 * 2^64
  CHECK(equal == std::vector<bool>{false, false, true});
}

TEST_CASE("elementwise: a distance of 65 bits rounds once") {
  // 2^64 + 2^11 is the middle of 2^64 and 2^64 + 2^12: even is 2^64; one more goes up.
  const ExactInteger low{uint64_t{1} << 63, true};
  CHECK(distance({(uint64_t{1} << 63) + 2048, false}, low) == 0x1p64);
  CHECK(distance({(uint64_t{1} << 63) + 2049, false}, low) == 0x1p64 + 4096);
}

TEST_CASE("elementwise: what cannot be visited is refused with a reason") {
  const std::vector<float> three(3), two(2);
  CHECK(message_of(view_of(three, DType::f32), view_of(two, DType::f32)) ==
        "views of unequal length: 3 and 2 elements");
  CHECK(message_of(view_of(three, DType::f32), view_of(three, DType::i4x2)) ==
        "cannot widen elements of type int4x2");
  try {
    visit_integers(view_of(three, DType::f32), view_of(three, DType::f32),
                   [](uint64_t, ExactInteger, ExactInteger) {});
    FAIL("nothing thrown");
  } catch (const Failure& failure) {
    CHECK(std::string(failure.what()) == "not a bool or integer type: float32");
    CHECK(failure.code == ULPSCOPE_E_UNSUPPORTED);
  }
}

}  // namespace ulpscope
