// Names the rows, columns or heads that a tensor's errors lie in, when they do not lie everywhere. Reads the
// data of one pair again; used for the evidence of culprits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "kernels/axis_pass.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// One dimension whose errors lie at few of its indices.
struct ErrorPlace {
  size_t axis = 0;
  int64_t extent = 0;
  std::vector<int64_t> indices;  // ascending
  double share = 0;              // of the squared error, or of the nonfinite mismatches where there are any
};

// The dimensions of axes whose errors lie at few indices: at most half of them and kMaxPlaceIndices hold
// 99 % of the squared error. Dimensions of one index say nothing, and a single element is no row or column.
constexpr size_t kMaxPlaceIndices = 8;
std::vector<ErrorPlace> concentrated(const std::vector<AxisErrors>& axes);

// "index 3 of dimension 1 (7 long)", "indices 0-3,9 of dimension 0 (64 long)".
std::string to_text(const ErrorPlace& place);

// Reads the pair of a row that was measured in data mode. Empty when the errors lie everywhere, for vectors,
// and for tensors of more than kMaxPlaceElements elements. io/format: as when it was measured.
constexpr int64_t kMaxPlaceElements = int64_t{1} << 28;
Result<std::vector<ErrorPlace>> error_places(const ResultTable& table, int64_t row, const Cancel& cancel);

// Adds the places to the evidence of the culprits whose row was measured by elements. A pair that cannot be
// read again says nothing.
void add_error_places(ResultTable& table, const Cancel& cancel);

}  // namespace ulpscope
