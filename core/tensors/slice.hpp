// Parts of a tensor by a text like "0:2,:,3", printed as numpy prints arrays. Used by show. Reads only the
// bytes that are printed where the data allows it.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "index/tensor_data.hpp"

namespace ulpscope {

// The places that one dimension of a slice selects.
struct SliceDim {
  int64_t first = 0, step = 1, count = 0;
  bool dropped = false;  // a single place was named: the dimension does not appear in the result
};

// A slice of a shape: as many members as the shape has dimensions.
struct Slice {
  std::vector<SliceDim> dims;
};

// "2", "-1", "1:4", "::2", "..." for each dimension, comma between; missing dimensions are whole. An empty
// text selects everything. usage: malformed, out of range, too many dimensions, or a step below 1.
Result<Slice> parse_slice(std::string_view text, std::span<const int64_t> shape);

// The selected elements in nested brackets. Above 1000 elements the middle of long dimensions is left out
// ("..."). Errors are those of reading.
Result<std::string> slice_text(TensorData& data, DType dtype, std::span<const int64_t> shape,
                               const Slice& slice);

}  // namespace ulpscope
