// Copies elements between two arrays in memory of which each place is a sum of index times stride: what is
// left of a change of layout once its blocks are cut into whole ones and a rest. For the storage formats of
// accelerators; knows nothing of formats and checks no bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ulpscope {

// One index: how far each step goes, in elements, in the array that is read and in the one that is written.
struct CopyAxis {
  int64_t count = 1, from = 0, to = 0;
};

// All combinations of the indexes; the first element lies at from and to.
struct CopyNest {
  int64_t from = 0, to = 0;  // elements
  std::vector<CopyAxis> axes;
};

// Memory that is written before it is read: taking it does not clear it, and what was taken before goes.
class RawBuffer {
 public:
  std::span<std::byte> take(size_t size_bytes) {
    if (size_bytes > capacity_) {
      data_.reset();
      data_ = std::make_unique_for_overwrite<std::byte[]>(size_bytes);
      capacity_ = size_bytes;
    }
    return {data_.get(), size_bytes};
  }

 private:
  std::unique_ptr<std::byte[]> data_;
  size_t capacity_ = 0;
};

// Copies every element of the nest; elements have 1, 2, 4, 8 or 16 bytes. The caller has made sure that all
// places lie inside both arrays and that these do not overlap. Strides are not negative. Any thread.
void copy_nest(const std::byte* from, CopyNest nest, unsigned element_bytes, std::byte* to);

}  // namespace ulpscope
