// Little-endian numbers out of byte ranges, and a file whose first and last bytes are read once. Shared by
// the readers of this folder, so that a small tensor file costs one or two system calls.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"

namespace ulpscope {

using Bytes = std::span<const std::byte>;

// The little-endian number at offset, which the caller has checked to lie inside bytes.
template <std::unsigned_integral T>
T load_le(Bytes bytes, size_t offset) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>((uint64_t{value} << 8) | std::to_integer<uint64_t>(bytes[offset + i]));
  return value;
}

// The same bytes as text. Lives as long as they do.
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A file with its ends in memory: whole when it has at most 8 KiB, else the first and the last 4 KiB. Any
// thread once load has returned. Refers to the file; does not own it.
class FileEnds {
 public:
  static constexpr size_t kEnd = 4096;

  explicit FileEnds(const File& file) : file_(file) {}
  FileEnds(const FileEnds&) = delete;
  FileEnds& operator=(const FileEnds&) = delete;

  // Reads the ends. io.
  Status load();
  const File& file() const { return file_; }
  // The first bytes of the file, at least min(file size, kEnd).
  Bytes head() const { return Bytes(buffer_).first(head_); }
  // Bytes [offset, offset + size): from memory where they are there, else read into scratch. format: past the
  // end.
  Result<Bytes> view(uint64_t offset, uint64_t size, std::vector<std::byte>& scratch) const;

 private:
  const File& file_;
  std::array<std::byte, 2 * kEnd>
      buffer_;                  // head, and from kEnd on the tail; not cleared, load fills what is used
  size_t head_ = 0, tail_ = 0;  // bytes of each; tail_ is 0 when the head is the whole file
};

}  // namespace ulpscope
