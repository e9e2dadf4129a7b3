// The bytes of one tensor, read in pieces: a range of a file, or a stream that a source converts. Used by the
// measuring and by show and convert. Never holds a tensor whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/file.hpp"
#include "base/result.hpp"
#include "index/dump_index.hpp"
#include "plugin/handles.hpp"

namespace ulpscope {

class TensorData {
 public:
  // Finds the bytes of a tensor, asking its source where it must. io/format: no such bytes, or their number
  // is not shape × dtype. Any thread, as long as the index lives.
  static Result<TensorData> open(const DumpIndex& index, TensorId tensor);

  uint64_t size_bytes() const { return size_; }
  // Whether read may start anywhere; otherwise each read starts where the last one ended.
  bool seekable() const { return file_.has_value(); }
  // Exactly dst.size() bytes from offset. io/format when they are not there. Any thread when seekable.
  Status read(uint64_t offset, std::span<std::byte> dst);
  // As of the file; nothing for a stream, whose files only its source knows.
  std::optional<int64_t> changed_ns() const { return file_ ? file_->changed_ns() : std::nullopt; }
  // The CRC-32 that the file states for these bytes, where it does.
  std::optional<uint32_t> stated_crc32() const { return crc32_; }

 private:
  TensorData() = default;

  std::optional<File> file_;
  std::optional<StreamHandle> stream_;
  uint64_t base_ = 0, size_ = 0, position_ = 0;
  std::optional<uint32_t> crc32_;
  std::string name_;  // for messages
};

}  // namespace ulpscope
