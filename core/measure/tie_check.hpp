// Whether an index that differs between two runs was chosen among values that rounding could swap. Reads the
// values again: the golden input at both indexes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

// A tie with the choice that is widest apart; where it is none, the first choice that shows it.
struct TieLook {
  Tie tie = Tie::unknown;
  int64_t choices = 0;  // that differ, as far as they were looked at; 0: the values below mean nothing
  double target_index = 0, golden_index = 0;
  double target_value = 0, golden_value = 0;  // golden's, at these indexes; NaN for an index out of range
};
TieLook look_at_tie(const TieChoice& choice);

// The same for a row of integer outputs (topk, sort, argmax, ...), from the data of its op's first floating
// input. Tensors of more than kMaxTieElements elements are unknown.
constexpr int64_t kMaxTieElements = int64_t{1} << 26;
Tie tie_of(const ResultTable& table, int64_t row, const Cancel& cancel);
TieLook look_at_tie(const ResultTable& table, int64_t row, const Cancel& cancel);

// Says of the first few ties of a localised table, and of the culprits that are another index, which values
// the two indexes stand for: as notes, and as the evidence "choice". Reads the values again; assumed: the
// localisation's ties but for those that are none.
void add_tie_texts(ResultTable& table, const std::vector<int64_t>& assumed, const Cancel& cancel);

}  // namespace ulpscope
