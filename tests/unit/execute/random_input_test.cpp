#include "execute/random_input.hpp"

#include <ulpscope/half.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace ulpscope;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t kLimit = 1 << 20;

RandomTensor tensor(DType dtype, Shape shape, double low, double high) {
  return {dtype, std::move(shape), low, high, true};
}

std::vector<double> floats(const RandomTensor& wanted, std::string_view api = "Torch.add.0",
                           std::string_view argument = "input.0", uint64_t seed = 1234) {
  RandomStream stream(seed, api, argument);
  const auto made = random_elements(wanted, stream, kLimit);
  REQUIRE(made.ok());
  const size_t size = size_bytes(wanted.dtype);
  std::vector<double> out;
  for (size_t at = 0; at < made->size(); at += size) {
    uint64_t code = 0;
    std::memcpy(&code, made->data() + at, size);
    out.push_back(float_to_double(wanted.dtype, code));
  }
  return out;
}

std::vector<int64_t> integers(const RandomTensor& wanted) {
  RandomStream stream(1234, "Torch.add.0", "input.0");
  const auto made = random_elements(wanted, stream, kLimit);
  REQUIRE(made.ok());
  std::vector<int64_t> out(made->size() / 8);
  std::memcpy(out.data(), made->data(), made->size());
  return out;
}

}  // namespace

TEST_CASE("random numbers lie between the recorded extremes, which stand first and last") {
  for (const DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    CAPTURE(name(t));
    const auto values = floats(tensor(t, {4, 25}, -2, 3));
    REQUIRE(values.size() == 100);
    CHECK(values.front() == -2);
    CHECK(values.back() == 3);
    CHECK(std::all_of(values.begin(), values.end(), [](double v) { return v >= -2 && v <= 3; }));
    CHECK(std::any_of(values.begin() + 1, values.end() - 1, [](double v) { return v < 0; }));
    CHECK(std::any_of(values.begin() + 1, values.end() - 1, [](double v) { return v > 1; }));
  }
}

TEST_CASE("random numbers depend on seed, API and argument alone") {
  const RandomTensor wanted = tensor(DType::f32, {64}, 0, 1);
  const auto first = floats(wanted);
  CHECK(first == floats(wanted));
  CHECK(first != floats(wanted, "Torch.add.1"));
  CHECK(first != floats(wanted, "Torch.add.0", "input.1"));
  CHECK(first != floats(wanted, "Torch.add.0", "input.0", 1));
  // "ab" + "c" is another place than "a" + "bc".
  CHECK(floats(wanted, "ab", "c") != floats(wanted, "a", "bc"));
}

TEST_CASE("a stream begins alike for equal places, and gives multiples of the unit asked for") {
  RandomStream a(7, "x", "y"), b(7, "x", "y");
  CHECK(a.next() == b.next());
  for (int i = 0; i < 1000; ++i) {
    const double u = a.unit(11);
    CHECK((u >= 0 && u < 1));
    CHECK(u * 2048 == std::floor(u * 2048));
  }
}

TEST_CASE("the full range of float16 stays finite") {
  const auto values = floats(tensor(DType::f16, {1000}, -65504, 65504));
  CHECK(std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }));
}

TEST_CASE("an infinite extreme stands once among finite numbers") {
  const auto values = floats(tensor(DType::f32, {50}, -1, kInf));
  CHECK(values.back() == kInf);
  CHECK(std::count_if(values.begin(), values.end(), [](double v) { return std::isinf(v); }) == 1);
}

TEST_CASE("NaN extremes give one NaN") {
  const auto values = floats(tensor(DType::f32, {50}, kNaN, kNaN));
  CHECK(std::count_if(values.begin(), values.end(), [](double v) { return std::isnan(v); }) == 1);
}

TEST_CASE("one element is the recorded value") {
  CHECK(floats(tensor(DType::f32, {}, 0.5, 0.5)) == std::vector<double>{0.5});
}

TEST_CASE("integers include both ends") {
  const auto values = integers(tensor(DType::i64, {200}, -3, 3));
  CHECK(*std::min_element(values.begin(), values.end()) == -3);
  CHECK(*std::max_element(values.begin(), values.end()) == 3);
  const auto wide = integers(tensor(DType::i64, {4}, -9.3e18, 9.3e18));
  CHECK(wide.front() < 0);
  CHECK(wide.back() > 0);
}

TEST_CASE("an empty tensor needs no extremes") {
  RandomTensor empty{DType::f32, {0, 3}, 0, 0, false};
  RandomStream stream(1, "a", "b");
  CHECK(random_elements(empty, stream, kLimit)->empty());
}

TEST_CASE("numbers that cannot be made up are errors") {
  RandomStream stream(1, "a", "b");
  const auto message = [&](const RandomTensor& wanted) {
    const auto made = random_elements(wanted, stream, kLimit);
    REQUIRE(!made.ok());
    return made.error().message;
  };
  CHECK(message({DType::f32, {2}, 0, 0, false}) ==
        "the dump has no largest and least value to make random numbers from");
  CHECK(message(tensor(DType::c64, {2}, 0, 1)) == "no random numbers of type complex64");
  CHECK(message(tensor(DType::i32, {2}, kNaN, 1)) == "the largest and least value are no integers");
  CHECK(message(tensor(DType::f32, {int64_t{1} << 40}, 0, 1)).find("a tensor of more than") == 0);
}
