// Boxes of a stored array: loading one from the file, and the copies that bring its elements into the order
// of the original layout. For the streams of stored tensors only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"
#include "formats/storage_copy.hpp"
#include "formats/storage_layout.hpp"

namespace ulpscope {

// Indexes [first, first + count) of one axis or dimension.
struct IndexRange {
  int64_t first = 0, count = 1;
};

// A part of a stored array in memory: range and stride in elements for each stored axis.
struct StoredBox {
  std::vector<IndexRange> ranges;
  std::vector<int64_t> strides;
  int64_t elements = 1;  // that the strides span, gaps included
  int64_t run = 1;       // elements that lie together in the file
  size_t run_axis = 0;   // the outermost axis of such a run
};

// The smallest box that holds the stored elements of the logical indexes in ranges. element_bytes: of one
// element.
StoredBox box_of(const std::vector<StoredAxis>& axes, std::span<const IndexRange> ranges,
                 unsigned element_bytes);

// Sets strides, elements and runs from the ranges. Runs are kept apart by a cache line where they would else
// begin at the same places of the cache.
void pack_box(const std::vector<StoredAxis>& axes, unsigned element_bytes, StoredBox& box);

// Loads a box of the array at offset into memory, which has elements * element_bytes. io, format.
Status load_box(const File& file, uint64_t offset, const std::vector<StoredAxis>& axes, const StoredBox& box,
                unsigned element_bytes, std::span<std::byte> memory);

// The copies from a box to an array of the logical indexes in ranges, whose neighbours lie to_strides apart.
std::vector<CopyNest> nests_of(const std::vector<StoredAxis>& axes, const StoredBox& box,
                               std::span<const IndexRange> ranges, std::span<const int64_t> to_strides);

// The same for a grouped plan and a dense array, whose ranges hold whole groups. N and C are n_dimension and
// c_dimension.
std::vector<CopyNest> grouped_nests_of(const StoragePlan& plan, const StoredBox& box,
                                       std::span<const IndexRange> ranges);

// Elements between neighbours of each dimension of a dense array of these ranges.
std::vector<int64_t> dense_strides(std::span<const IndexRange> ranges);

}  // namespace ulpscope
