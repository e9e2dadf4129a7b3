// Errors by index of each dimension.
#include "kernels/axis_pass.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "reference.hpp"

namespace ulpscope::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<AxisErrors> axes_of(const std::vector<double>& target, const std::vector<double>& golden,
                                const std::vector<int64_t>& shape, int64_t split) {
  AxisPass pass = AxisPass::choose(DType::f64, DType::f64, shape).value();
  const Bytes t = bytes_of(target), g = bytes_of(golden);
  pass.run(t.data(), g.data(), split);
  pass.run(t.data() + split * 8, g.data() + split * 8, static_cast<int64_t>(target.size()) - split);
  return pass.axes();
}

}  // namespace

TEST_CASE("axis pass: each error counts at its index of every dimension") {
  // Shape [2,3,2]; errors 3 at [0,1,0] and 4 at [1,1,1].
  std::vector<double> golden(12, 1), target = golden;
  target[2] += 3;
  target[9] -= 4;
  for (const int64_t split : {0, 5, 12}) {
    CAPTURE(split);
    const auto axes = axes_of(target, golden, {2, 3, 2}, split);
    REQUIRE(axes.size() == 3);
    CHECK(axes[0].squared_error == std::vector<double>{9, 16});
    CHECK(axes[1].squared_error == std::vector<double>{0, 25, 0});
    CHECK(axes[2].squared_error == std::vector<double>{9, 16});
  }
}

TEST_CASE("axis pass: mismatches are counted apart from errors") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto axes = axes_of({kNan, 1, inf, 5}, {0, 1, inf, kNan}, {2, 2}, 1);
  CHECK(axes[0].mismatches == std::vector<int64_t>{1, 1});
  CHECK(axes[1].mismatches == std::vector<int64_t>{1, 1});
  CHECK(axes[0].squared_error == std::vector<double>{0, 0});
}

TEST_CASE("axis pass: a complex element is one place, and long dimensions are left out") {
  AxisPass pass = AxisPass::choose(DType::c64, DType::c64, std::vector<int64_t>{1, 2}).value();
  const std::vector<float> target = {1, 1, 4, 5}, golden = {1, 1, 1, 1};
  const Bytes t = bytes_of(target), g = bytes_of(golden);
  pass.run(t.data(), g.data(), 2);
  CHECK(pass.axes()[1].squared_error == std::vector<double>{0, 25});
  const std::vector<int64_t> shape = {AxisErrors::kMaxExtent + 1, 1};
  CHECK(AxisPass::choose(DType::f32, DType::f32, shape).value().axes()[0].squared_error.empty());
}

}  // namespace ulpscope::test
