// Whether an index that differs between two runs was chosen among values that rounding could swap. Reads the
// values again: the golden input at both indexes.
#pragma once

#include <cstdint>
#include <span>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

enum class Tie {
  tied,      // every pair of values lies closer than the inputs' errors and one rounding of each value
  not_tied,  // some pair does not, or an index is out of range
  unknown,   // the values are not there, or the shapes do not say along which dimension was chosen
};

// values: what was chosen from, row-major, of shape. target, golden: indexes along dimension axis, of the
// same shape but for that dimension. input_error: the largest |target - golden| over the values of both runs.
struct TieChoice {
  std::span<const double> values;
  std::span<const int64_t> shape;
  size_t axis = 0;
  std::span<const double> target, golden;
  int64_t chosen = 1;  // extent of the indexes along axis
  double input_error = 0, roundoff = 0;
};
Tie tie_of(const TieChoice& choice);

// The same for a row of integer outputs (topk, sort, argmax, ...), from the data of its op's first floating
// input. Tensors of more than kMaxTieElements elements are unknown.
constexpr int64_t kMaxTieElements = int64_t{1} << 26;
Tie tie_of(const ResultTable& table, int64_t row, const Cancel& cancel);

}  // namespace ulpscope
