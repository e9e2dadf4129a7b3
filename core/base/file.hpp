// Read-only access to regular files by offset, and the rule that keeps a dump's file names inside the dump's
// root. Used by every reader. Does not map, cache or write files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ulpscope {

// An open regular file. Movable; read_at may be called from any thread.
class File {
 public:
  // Opens path for reading. io: missing, unreadable, or not a regular file (a FIFO or device is never read).
  static Result<File> open(const std::string& path);
  // Opens root/relative. format: relative is absolute, has "..", a backslash, NUL or a drive letter ("path
  // leaves the dump"); the same when a symbolic link leads out of root, unless follow_links.
  static Result<File> open_under(const std::string& root, std::string_view relative,
                                 bool follow_links = false);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  // When the file was last written to or put in its place, in nanoseconds since 1970; nothing where the
  // system does not say. A time that a user may set back does not count.
  std::optional<int64_t> changed_ns() const;
  // Up to dst.size() bytes from offset; less only at the end of the file. io on a read error.
  Result<size_t> read_at(uint64_t offset, std::span<std::byte> dst) const;
  // Exactly dst.size() bytes; format when the file ends before.
  Status read_exact(uint64_t offset, std::span<std::byte> dst) const;
  // The whole file as text. format when it is larger than limit_bytes.
  Result<std::string> read_text(uint64_t limit_bytes) const;
  // Tells the kernel that reading will be sequential.
  void advise_sequential() const;

 private:
  // Takes over fd. io as open.
  static Result<File> take(int fd, const std::string& path);
  File(int fd, uint64_t size, std::string path) : fd_(fd), size_(size), path_(std::move(path)) {}
  int fd_ = -1;
  uint64_t size_ = 0;
  std::string path_;
};

// Whether relative is a plain path below its root: not empty, not absolute, no "..", backslash, NUL or drive
// letter.
bool is_safe_relative(std::string_view relative);

}  // namespace ulpscope
