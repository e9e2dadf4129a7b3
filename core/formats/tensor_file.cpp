#include "formats/tensor_file.hpp"

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "formats/npy.hpp"
#include "formats/pt.hpp"
#include "formats/safetensors.hpp"
#include "formats/tensor_file_bytes.hpp"

namespace ulpscope {
namespace {

struct OtherFile {
  size_t offset;
  std::string_view magic, name;
};
// What is met under these extensions and is something else.
constexpr OtherFile kOthers[] = {{257, "ustar", "a .pt file of the tar era (before torch 0.1.10)"},
                                 {0, "\x1f\x8b", "gzip"},
                                 {0, "\x28\xb5\x2f\xfd", "zstd"},
                                 {0, "PK\5\6", "an empty ZIP archive"},
                                 {0, "\x89HDF\r\n", "HDF5"},
                                 {0, "GGUF", "GGUF"},
                                 {0, "\x80\x02", "a pickle that is not a tensor's"},
                                 {0, "\x80\x03", "a pickle that is not a tensor's"},
                                 {0, "\x80\x04", "a pickle that is not a tensor's"},
                                 {0, "\x80\x05", "a pickle that is not a tensor's"}};

std::string leading_hex(Bytes head) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : head.first(std::min<size_t>(head.size(), 8))) {
    if (!text.empty()) text += ' ';
    text += kDigits[std::to_integer<size_t>(b >> 4)];
    text += kDigits[std::to_integer<size_t>(b & std::byte{15})];
  }
  return text;
}

struct Kind {
  TensorFileKind kind;
  bool legacy = false;  // of pt
};

Result<Kind> sniff(Bytes head, const File& file) {
  const std::string_view text = as_text(head);
  if (text.starts_with(kZipMagic)) return Kind{TensorFileKind::pt};
  if (text.starts_with(kLegacyMagic)) return Kind{TensorFileKind::pt, true};
  if (text.starts_with(kNpyMagic)) return Kind{TensorFileKind::npy};
  if (looks_like_safetensors(head, file.size())) return Kind{TensorFileKind::safetensors};
  constexpr std::string_view kExpected = ", expected a .pt, .npy or .safetensors file";
  if (text.empty()) return Error{Code::format, file.path() + ": empty file" + std::string(kExpected)};
  for (const OtherFile& other : kOthers)
    if (text.size() >= other.offset && text.substr(other.offset).starts_with(other.magic))
      return Error{Code::unsupported, file.path() + ": " + std::string(other.name) + std::string(kExpected)};
  for (const std::string_view magic : {kZipMagic, kLegacyMagic, kNpyMagic})
    if (magic.starts_with(text))
      return Error{Code::format, file.path() + ": cut off after " + std::to_string(text.size()) + " bytes"};
  return Error{Code::unsupported,
               file.path() + ": begins with bytes " + leading_hex(head) + std::string(kExpected)};
}

}  // namespace

std::string_view extension(TensorFileKind kind) {
  switch (kind) {
    case TensorFileKind::pt:
      return ".pt";
    case TensorFileKind::npy:
      return ".npy";
    case TensorFileKind::safetensors:
      return ".safetensors";
  }
  return {};
}

Result<TensorFileKind> sniff(const File& file) {
  std::array<std::byte, 512> head = {};
  ULPSCOPE_ASSIGN(const size_t got, file.read_at(0, head));
  ULPSCOPE_ASSIGN(const Kind kind, sniff(Bytes(head).first(got), file));
  return kind.kind;
}

Result<std::vector<TensorPlace>> read_places(const File& file) {
  FileEnds ends(file);
  ULPSCOPE_TRY(ends.load());
  ULPSCOPE_ASSIGN(const Kind kind, sniff(ends.head(), file));
  if (kind.kind == TensorFileKind::safetensors) return read_safetensors(ends);
  ULPSCOPE_ASSIGN(TensorPlace place, kind.kind == TensorFileKind::npy ? read_npy(ends)
                                     : kind.legacy                    ? read_pt_legacy(ends)
                                                                      : read_pt_zip(ends));
  std::vector<TensorPlace> places;
  places.push_back(std::move(place));
  return places;
}

std::optional<uint64_t> dense_bytes(const Shape& shape, DType dtype) {
  if (shape.size() > kMaxRank) return std::nullopt;
  int64_t bytes = size_bytes(dtype);
  bool empty = false;
  // Dimensions of 0 count as 1 here, so that strides, which do the same, cannot overflow either.
  for (const int64_t dimension : shape) {
    if (dimension < 0) return std::nullopt;
    empty = empty || dimension == 0;
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(dimension, 1), &bytes)) return std::nullopt;
  }
  return empty ? 0 : static_cast<uint64_t>(bytes);
}

std::vector<int64_t> dense_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

}  // namespace ulpscope
