// Which rows and columns hold the errors, and how that is said.
#include "measure/error_places.hpp"

#include <doctest/doctest.h>

namespace ulpscope {
namespace {

AxisErrors axis(std::vector<double> squared_error, std::vector<int64_t> mismatches = {}) {
  if (mismatches.empty()) mismatches.resize(squared_error.size());
  return {std::move(squared_error), std::move(mismatches)};
}

}  // namespace

TEST_CASE("error places: a row that holds all of the error is named, an even spread is not") {
  const auto places = concentrated({axis({0, 0, 1e-30, 7, 0, 0, 0, 0}), axis({1, 2, 1, 3}), axis({7})});
  REQUIRE(places.size() == 1);
  CHECK(places[0].axis == 0);
  CHECK(places[0].indices == std::vector<int64_t>{3});
  CHECK(to_text(places[0]) == "index 3 of dimension 0 (8 long)");
}

TEST_CASE("error places: a range is named when it is half of the dimension at most") {
  AxisErrors errors = axis(std::vector<double>(9, 0.0));
  for (const size_t i : {4, 5, 6, 8}) errors.squared_error[i] = 1;
  const auto places = concentrated({errors});
  REQUIRE(places.size() == 1);
  CHECK(to_text(places[0]) == "indices 4-6,8 of dimension 0 (9 long)");
  errors.squared_error[0] = 1;
  CHECK(concentrated({errors}).empty());
}

TEST_CASE("error places: mismatches decide where there are any; no error and one index say nothing") {
  const auto places = concentrated({axis({9, 0, 0, 0, 0}, {0, 0, 0, 0, 2}), axis({9, 9}, {1, 1})});
  REQUIRE(places.size() == 1);
  CHECK(places[0].indices == std::vector<int64_t>{4});
  CHECK(concentrated({axis({0, 0, 0, 0}), axis({0, 0})}).empty());
  CHECK(concentrated({axis({0, 3, 0, 0}), axis({3, 0})}).empty());
}

}  // namespace ulpscope
