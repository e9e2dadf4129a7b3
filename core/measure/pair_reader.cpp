#include "measure/pair_reader.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace ulpscope {
namespace {

Result<int64_t> product(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (const int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      return Error{Code::format, "the shape is too large"};
  return count;
}

}  // namespace

bool is_same_squeezed(std::span<const int64_t> a, std::span<const int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end()) || squeezed(a) == squeezed(b);
}

Shape squeezed(std::span<const int64_t> shape) {
  Shape out;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(out), [](int64_t dim) { return dim != 1; });
  return out;
}

int64_t SideShape::element_count() const {
  const auto count = product(shape);
  return count.ok() ? *count : -1;
}

Result<SideShape> side_shape(const DumpIndex& index, ItemId item, const Merge* merge) {
  SideShape side;
  const TensorId first = index.items()[item].tensor;
  if (first == kNoIndex) return Error{Code::internal, "not a tensor"};
  side.dtype = index.tensors()[first].dtype;
  const auto dims = index.shape_of(first);
  side.parts = {first};
  if (merge == nullptr || merge->axis < 0 || merge->items.size() < 2) {
    side.shape.assign(dims.begin(), dims.end());
    return side;
  }
  side.parts.clear();
  side.axis = merge->axis;
  side.shape = squeezed(dims);
  const auto axis = static_cast<size_t>(merge->axis);
  if (axis >= side.shape.size())
    return Error{Code::format, "cannot join along dimension " + std::to_string(axis) + " of a tensor with " +
                                   std::to_string(side.shape.size())};
  side.shape[axis] = 0;
  for (const ItemId part : merge->items) {
    const TensorId tensor = index.items()[part].tensor;
    if (tensor == kNoIndex) return Error{Code::format, "a part of a merged projection is not a tensor"};
    Shape shape = squeezed(index.shape_of(tensor));
    if (shape.size() != side.shape.size() || index.tensors()[tensor].dtype != side.dtype)
      return Error{Code::format, "the parts of a merged projection differ in dtype or dimensions"};
    side.shape[axis] += shape[axis];
    shape[axis] = side.shape[axis];
    if (shape != side.shape)
      return Error{Code::format, "the parts of a merged projection differ beside the joined dimension"};
    side.parts.push_back(tensor);
  }
  return side;
}

Result<SideReader> SideReader::open(const DumpIndex& index, const SideShape& side) {
  SideReader reader;
  for (const TensorId tensor : side.parts) {
    ULPSCOPE_ASSIGN(TensorData data, TensorData::open(index, tensor));
    uint64_t run = data.size_bytes();
    if (side.parts.size() > 1) {
      const Shape shape = squeezed(index.shape_of(tensor));
      ULPSCOPE_ASSIGN(const int64_t elements,
                      product(std::span(shape).subspan(static_cast<size_t>(side.axis))));
      run = static_cast<uint64_t>(elements) * ulpscope::size_bytes(side.dtype);
    }
    reader.size_ += data.size_bytes();
    reader.run_bytes_ += run;
    reader.parts_.push_back({std::move(data), run});
  }
  return reader;
}

bool SideReader::seekable() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.data.seekable(); });
}

Status SideReader::read(uint64_t offset, std::span<std::byte> dst) {
  if (parts_.size() == 1) return parts_[0].data.read(offset, dst);
  while (!dst.empty()) {
    const uint64_t run = offset / run_bytes_;
    uint64_t within = offset % run_bytes_;
    size_t at = 0;
    while (within >= parts_[at].run_bytes) within -= parts_[at++].run_bytes;
    const uint64_t n = std::min<uint64_t>(dst.size(), parts_[at].run_bytes - within);
    ULPSCOPE_TRY(
        parts_[at].data.read(run * parts_[at].run_bytes + within, dst.first(static_cast<size_t>(n))));
    dst = dst.subspan(static_cast<size_t>(n));
    offset += n;
  }
  return {};
}

}  // namespace ulpscope
