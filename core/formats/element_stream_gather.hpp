// The strided copy behind element_stream: walks the elements of a view in blocks of the output, in the order
// in which they lie in the storage. Not for other folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {

// What lies where, in elements of element_bytes each.
struct Gather {
  uint64_t element_bytes = 1;
  uint64_t first = 0;             // storage element of the view's first element
  std::vector<uint64_t> sizes;    // at least one dimension, none of them 0
  std::vector<uint64_t> strides;  // in the storage
};

// Where the storage is: in memory, or in the file from offset on. Exactly one of both.
struct GatherSource {
  std::span<const std::byte> memory;
  const File* file = nullptr;
  uint64_t offset = 0;
};

// The view of a place with dimensions merged where the storage allows it, so that loops run over long rows.
Gather make_gather(const TensorPlace& place);

// Fills block with rows [begin, begin + count) of dimension axis below the fixed indexes of the dimensions
// before it. block holds count × product of the sizes after axis elements, row-major. io: reading failed. The
// caller has checked that every element lies in the storage.
Status gather_block(const Gather& gather, const GatherSource& source, size_t axis,
                    std::span<const uint64_t> outer, uint64_t begin, uint64_t count,
                    std::span<std::byte> block);

}  // namespace ulpscope
