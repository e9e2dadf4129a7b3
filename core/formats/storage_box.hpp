// Boxes of a stored array: loading one from the file, and moving its elements into another order. For
// storage_stream.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"
#include "formats/storage_layout.hpp"

namespace ulpscope {

// Indexes [first, first + count) of one axis or dimension.
struct IndexRange {
  int64_t first = 0, count = 1;
};

// A part of a stored array, packed: range and stride in elements for each stored axis.
struct StoredBox {
  std::vector<IndexRange> ranges;
  std::vector<int64_t> strides;
  int64_t elements = 1;
};

// The smallest box that holds the stored elements of the logical indexes in ranges.
StoredBox box_of(const std::vector<StoredAxis>& axes, std::span<const IndexRange> ranges);

// Sets strides and elements from the ranges.
void pack_box(StoredBox& box);

// Loads a box of the array at offset into packed, which has elements * element_bytes. io, format.
Status load_box(const File& file, uint64_t offset, const std::vector<StoredAxis>& axes, const StoredBox& box,
                unsigned element_bytes, std::span<std::byte> packed);

// Where the elements of one output dimension lie, in elements from the box's begin. Dimensions add up.
using OffsetTable = std::vector<int64_t>;

// Offsets of the logical indexes of each dimension inside a box.
std::vector<OffsetTable> offset_tables(const std::vector<StoredAxis>& axes, const StoredBox& box,
                                       std::span<const IndexRange> ranges);

// Writes the elements of all combinations of the tables, the last one fastest, to out.
void move_elements(std::span<const std::byte> packed, std::vector<OffsetTable> tables, unsigned element_bytes,
                   std::byte* out);

}  // namespace ulpscope
