#include "formats/tensor_writer.hpp"

#include "formats/tensor_writer_formats.hpp"

namespace ulpscope {
namespace {

Error bad_shape(const std::string& path) {
  return {Code::usage, path + ": a shape that no tensor has, expected at most " + std::to_string(kMaxRank) +
                           " dimensions, none negative, below 2^63 bytes"};
}

}  // namespace

TensorWriter::TensorWriter(std::unique_ptr<Format> format, uint64_t size_bytes)
    : format_(std::move(format)), expected_(size_bytes) {}
TensorWriter::TensorWriter(TensorWriter&&) noexcept = default;
TensorWriter& TensorWriter::operator=(TensorWriter&&) noexcept = default;
TensorWriter::~TensorWriter() = default;

Result<TensorWriter> TensorWriter::begin(TensorFileKind kind, const std::string& path, DType dtype,
                                         const Shape& shape) {
  if (kind == TensorFileKind::safetensors) return begin_safetensors(path, {{"tensor", dtype, shape}});
  const auto bytes = dense_bytes(shape, dtype);
  if (!bytes) return bad_shape(path);
  ULPSCOPE_ASSIGN(auto format,
                  kind == TensorFileKind::npy ? begin_npy(path, dtype, shape) : begin_pt(path, dtype, shape));
  return TensorWriter(std::move(format), *bytes);
}

Result<TensorWriter> TensorWriter::begin_safetensors(const std::string& path,
                                                     const std::vector<NamedTensor>& tensors) {
  uint64_t total = 0;
  for (const NamedTensor& tensor : tensors) {
    const auto bytes = dense_bytes(tensor.shape, tensor.dtype);
    if (!bytes || __builtin_add_overflow(total, *bytes, &total) || total > static_cast<uint64_t>(INT64_MAX))
      return bad_shape(path);
  }
  ULPSCOPE_ASSIGN(auto format, begin_safetensors_file(path, tensors));
  return TensorWriter(std::move(format), total);
}

Status TensorWriter::append(std::span<const std::byte> bytes) {
  if (format_ == nullptr) return Error{Code::internal, "a finished tensor file was appended to"};
  if (bytes.size() > expected_ - appended_)
    return Error{Code::internal, format_->file.path() + ": more bytes than the shape holds, expected " +
                                     std::to_string(expected_)};
  appended_ += bytes.size();
  return format_->append(bytes);
}

Status TensorWriter::finish() {
  if (format_ == nullptr) return Error{Code::internal, "a tensor file was finished twice"};
  const std::unique_ptr<Format> format = std::move(format_);
  if (appended_ != expected_)
    return Error{Code::internal, format->file.path() + ": " + std::to_string(appended_) +
                                     " bytes of elements, expected " + std::to_string(expected_)};
  ULPSCOPE_TRY(format->finish());
  return format->file.commit();
}

}  // namespace ulpscope
