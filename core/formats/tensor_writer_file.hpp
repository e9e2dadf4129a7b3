// A file that is written under a temporary name and appears under its own name only when it is complete. For
// the tensor writers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ulpscope {

// One thread at a time.
class NewFile {
 public:
  // Starts path. io: it exists already, or its folder cannot be written to.
  static Result<NewFile> create(const std::string& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  // Removes the temporary file unless commit succeeded.
  ~NewFile();

  const std::string& path() const { return path_; }
  // Bytes appended so far.
  uint64_t size() const { return size_; }
  // io.
  Status append(std::span<const std::byte> bytes);
  Status append(std::string_view text) { return append(std::as_bytes(std::span(text))); }
  // Overwrites bytes that were appended before. io.
  Status patch(uint64_t offset, std::span<const std::byte> bytes);
  // Closes the file and gives it its name, never in place of another. io.
  Status commit();

 private:
  NewFile(int fd, std::string path, std::string temporary)
      : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}
  Error failed(int error_number) const;

  int fd_ = -1;
  uint64_t size_ = 0;
  std::string path_, temporary_;  // temporary_ is empty once it was renamed
};

}  // namespace ulpscope
