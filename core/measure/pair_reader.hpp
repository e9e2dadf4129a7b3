// The bytes of one side of a pair: one tensor, or several that are joined along a dimension. Used by the
// measuring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "index/dump_index.hpp"
#include "index/tensor_data.hpp"
#include "match/matcher.hpp"

namespace ulpscope {

// What one side of a pair is: dtype, shape (of the joined tensor) and the tensors that it is made of.
struct SideShape {
  DType dtype = DType::none;
  Shape shape;
  std::vector<TensorId> parts;
  int32_t axis = 0;               // along which parts are joined
  int64_t element_count() const;  // -1 when it does not fit
};

// The side of a pair that item stands for. format: parts whose dtypes or other dimensions differ.
Result<SideShape> side_shape(const DumpIndex& index, ItemId item, const Merge* merge);

// shape without its dimensions of size 1.
Shape squeezed(std::span<const int64_t> shape);
// Whether two shapes are the same without them.
bool is_same_squeezed(std::span<const int64_t> a, std::span<const int64_t> b);

// The elements of one side as dense row-major bytes, read in pieces.
class SideReader {
 public:
  // Opens every part. io/format as TensorData::open.
  static Result<SideReader> open(const DumpIndex& index, const SideShape& side);
  bool seekable() const;
  uint64_t size_bytes() const { return size_; }
  // Exactly dst.size() bytes from offset; in order when not seekable. Any thread when seekable.
  Status read(uint64_t offset, std::span<std::byte> dst);
  // The CRC-32 that the file states for these bytes; never for joined tensors.
  std::optional<uint32_t> stated_crc32() const {
    return parts_.size() == 1 ? parts_[0].data.stated_crc32() : std::nullopt;
  }

 private:
  struct Part {
    TensorData data;
    uint64_t run_bytes;  // bytes of this part in each run along the dimensions before the axis
  };
  std::vector<Part> parts_;
  uint64_t size_ = 0, run_bytes_ = 0;
};

}  // namespace ulpscope
