#include <doctest/doctest.h>

#include <cmath>

#include "overflow/collectives.hpp"
#include "overflow/ignore_rules.hpp"
#include "overflow/tensor_state.hpp"

namespace ulpscope {
namespace {

constexpr double kInf = INFINITY, kNaN = NAN;

ulpscope_stats stats(double max, double min, double mean, double l2norm) {
  return {ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_MEAN | ULPSCOPE_STAT_L2,
          0,
          max,
          min,
          mean,
          l2norm};
}

}  // namespace

TEST_CASE("statistics prove: NaN, infinity, or neither") {
  CHECK(state_of_statistics(DType::f32, stats(kNaN, kNaN, kNaN, kNaN)).nan);
  CHECK(state_of_statistics(DType::f32, stats(kInf, 0, kInf, kInf)).positive_inf);
  CHECK(state_of_statistics(DType::f32, stats(0, -kInf, -kInf, kInf)).like_mask());
  const TensorState sound = state_of_statistics(DType::f32, stats(1, 0, 0.5, 1));
  CHECK(sound.known);
  CHECK_FALSE(sound.bad());
}

TEST_CASE("a mean of infinities of both signs is no NaN of the data") {
  const TensorState state = state_of_statistics(DType::f32, stats(kInf, -kInf, kNaN, kInf));
  CHECK(state.inf());
  CHECK_FALSE(state.nan);
  CHECK_FALSE(state.only_mean_or_norm);
}

TEST_CASE("an infinite mean beside finite extremes is only possible") {
  const TensorState state = state_of_statistics(DType::f16, stats(65000, 65000, kInf, kInf));
  CHECK(state.only_mean_or_norm);
  CHECK_FALSE(state.bad());
}

TEST_CASE("integers hold neither NaN nor infinity, and no statistics say nothing") {
  CHECK(state_of_statistics(DType::i32, {}).known);
  CHECK_FALSE(state_of_statistics(DType::f32, {}).known);
}

TEST_CASE("the largest float16 is noticed in float16 only") {
  CHECK(state_of_statistics(DType::f16, stats(65504, 0, 1, 1)).limit);
  CHECK(state_of_statistics(DType::f16, stats(0, -65504, 1, 1)).limit);
  CHECK_FALSE(state_of_statistics(DType::f32, stats(65504, 0, 1, 1)).limit);
  CHECK_FALSE(state_of_statistics(DType::f16, stats(65472, 0, 1, 1)).limit);
}

TEST_CASE("arguments: NaN and infinities stand as JSON texts") {
  CHECK(state_of_value("\"-Infinity\"").negative_inf);
  CHECK(state_of_value("\"NaN\"").nan);
  CHECK(state_of_value("-65504.0").limit);
  CHECK_FALSE(state_of_value("1.5").bad());
  CHECK_FALSE(state_of_value("[1,2]").bad());
}

TEST_CASE("ignore rules: by operation, side and place") {
  CHECK(ignore_reason("empty_like", Role::output, "0") == "memory that was never written");
  CHECK(ignore_reason("empty_like", Role::input, "0").empty());
  CHECK(ignore_reason("all_gather", Role::input, "0.3") == "a receive buffer, overwritten by the call");
  CHECK(ignore_reason("all_gather", Role::input, "1").empty());
  CHECK(ignore_reason("all_gather_into_tensor", Role::kwarg, "output_tensor") ==
        "a receive buffer, overwritten by the call");
  CHECK(ignore_reason("matmul", Role::input, "0").empty());
  CHECK(ignore_reason("empty", Role::parameter, "weight").empty());
}

TEST_CASE("group ranks are read from the text of a process group") {
  CHECK(group_ranks("[2,0, 1]") == std::vector<int32_t>{0, 1, 2});
  CHECK(group_ranks("[]").empty());
  CHECK(group_ranks("\"x\"").empty());
  CHECK(group_ranks("[1,-2]").empty());
  CHECK(group_ranks("[99999999999]").empty());
}

}  // namespace ulpscope
