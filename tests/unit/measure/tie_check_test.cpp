// Ties among what was chosen from.
#include "measure/tie_check.hpp"

#include <vector>

#include <doctest/doctest.h>

namespace ulpscope {
namespace {

// Two rows of four values, the best of each row.
Tie best(const std::vector<double>& values, const std::vector<double>& target, double input_error) {
  const std::vector<double> golden = {1, 2};
  const std::vector<int64_t> shape = {2, 4};
  return tie_of(TieChoice{values, shape, 1, target, golden, 1, input_error, 0});
}

}  // namespace

TEST_CASE("tie: values that the inputs' errors can swap are tied, others are not") {
  const std::vector<double> values = {1, 3, 2.75, 0, 5, 1, 9, 8.5};
  CHECK(best(values, {2, 2}, 0.125) == Tie::tied);
  CHECK(best(values, {2, 2}, 0.12) == Tie::not_tied);
  CHECK(best(values, {1, 3}, 0.25) == Tie::tied);
  CHECK(best(values, {0, 2}, 0.25) == Tie::not_tied);
}

TEST_CASE("tie: an index out of range is none, another number of indexes is unknown") {
  const std::vector<double> values(8, 1.0);
  CHECK(best(values, {4, 2}, 1) == Tie::not_tied);
  CHECK(best(values, {-1, 2}, 1) == Tie::not_tied);
  CHECK(best(values, {1, 2, 3}, 1) == Tie::unknown);
}

TEST_CASE("tie: the choice that is widest apart is told, or the first that is no tie") {
  const std::vector<double> values = {1, 3, 2.75, 0, 5, 1, 9, 8.5}, golden = {1, 2}, target = {2, 3};
  const std::vector<int64_t> shape = {2, 4};
  const TieLook tied = look_at_tie(TieChoice{values, shape, 1, target, golden, 1, 0.25, 0});
  CHECK(tied.tie == Tie::tied);
  CHECK(tied.choices == 2);
  CHECK(tied.target_index == 3);
  CHECK(tied.golden_index == 2);
  CHECK(tied.target_value == 8.5);
  CHECK(tied.golden_value == 9);
  const TieLook apart = look_at_tie(TieChoice{values, shape, 1, target, golden, 1, 0.1, 0});
  CHECK(apart.tie == Tie::not_tied);
  CHECK(apart.target_value == 2.75);
  CHECK(look_at_tie(TieChoice{values, shape, 1, golden, golden, 1, 0, 0}).choices == 0);
}

TEST_CASE("tie: indexes along a dimension in the middle, several of them") {
  // Shape [1,3,2], two chosen along dimension 1: columns {1,5,5.5} and {7,8,2}.
  const std::vector<double> values = {1, 7, 5, 8, 5.5, 2}, golden = {2, 1, 1, 0}, target = {1, 1, 2, 0};
  const std::vector<int64_t> shape = {1, 3, 2};
  CHECK(tie_of(TieChoice{values, shape, 1, target, golden, 2, 0.25, 0}) == Tie::tied);
  CHECK(tie_of(TieChoice{values, shape, 1, target, golden, 2, 0.2, 0}) == Tie::not_tied);
  // A relative rounding of 1/32 is 4 times that on 5.5.
  CHECK(tie_of(TieChoice{values, shape, 1, target, golden, 2, 0, 1.0 / 32}) == Tie::tied);
}

}  // namespace ulpscope
