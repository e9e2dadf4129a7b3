#include "index/tensor_data.hpp"

#include <string>
#include <utility>

namespace ulpscope {
namespace {

struct Place {
  int32_t kind = ULPSCOPE_DATA_NONE;
  std::string_view file;
  uint64_t offset = 0, size = 0, token = 0;
};

Result<Place> find_place(const DumpIndex& index, const TensorRow& row) {
  Place place{row.data_kind, index.text(row.data_file), row.data_offset, row.data_size, row.data_token};
  if (place.kind == ULPSCOPE_DATA_LATER) {
    ULPSCOPE_ASSIGN(const ulpscope_data_ref ref, index.source().locate(row.data_token));
    place = {ref.kind, to_view(ref.file), ref.offset, ref.size, ref.token};
    if (ref.kind == ULPSCOPE_DATA_LATER)
      return Error{Code::internal, "the source answers 'later' for late data"};
  }
  return place;
}

}  // namespace

Result<TensorData> TensorData::open(const DumpIndex& index, TensorId tensor) {
  const TensorRow& row = index.tensors()[tensor];
  TensorData data;
  ULPSCOPE_ASSIGN(const Place place, find_place(index, row));
  data.size_ = place.size;
  const int64_t count = index.element_count(tensor);
  uint64_t expected = 0;
  if (row.dtype != DType::none &&
      (count < 0 || __builtin_mul_overflow(static_cast<uint64_t>(count),
                                           uint64_t{ulpscope::size_bytes(row.dtype)}, &expected)))
    return Error{Code::format, "the shape is too large"};
  if (place.kind == ULPSCOPE_DATA_STREAM) {
    ULPSCOPE_ASSIGN(data.stream_, index.source().open_stream(place.token));
    data.name_ = index.text(index.ops()[row.op].name);
    if (place.size == 0) data.size_ = expected;
  } else if (place.kind == ULPSCOPE_DATA_FILE) {
    ULPSCOPE_ASSIGN(data.file_, File::open_under(index.root(), place.file));
    data.name_ = data.file_->path();
    data.base_ = place.offset;
    if (place.offset > data.file_->size() || place.size > data.file_->size() - place.offset)
      return Error{Code::format, data.name_ + ": data range " + std::to_string(place.offset) + " + " +
                                     std::to_string(place.size) + " is past the end (" +
                                     std::to_string(data.file_->size()) + ")"};
    if ((place.token >> 32) == 1) data.crc32_ = static_cast<uint32_t>(place.token);
  } else {
    return Error{Code::io, "no data recorded"};
  }
  if (row.dtype != DType::none && data.size_ != expected)
    return Error{Code::format, data.name_ + ": holds " + std::to_string(data.size_) + " bytes, expected " +
                                   std::to_string(expected) + " for its shape and dtype"};
  return data;
}

Status TensorData::read(uint64_t offset, std::span<std::byte> dst) {
  if (offset > size_ || dst.size() > size_ - offset)
    return Error{Code::internal, name_ + ": read past the tensor"};
  if (file_) return file_->read_exact(base_ + offset, dst);
  if (offset != position_) return Error{Code::internal, name_ + ": a stream is read in order"};
  while (!dst.empty()) {
    ULPSCOPE_ASSIGN(const size_t got, stream_->read(dst));
    if (got == 0) return Error{Code::format, name_ + ": the data ends before the tensor is complete"};
    position_ += got;
    dst = dst.subspan(got);
  }
  return {};
}

}  // namespace ulpscope
