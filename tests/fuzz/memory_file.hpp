// A File over bytes in memory, for fuzz targets: the readers take nothing else.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/file.hpp"

namespace ulpscope::fuzz {

// A path to the bytes while it lives. Ends the program when the system has no memory file to give: that is no
// finding.
class MemoryPath {
 public:
  MemoryPath(const uint8_t* data, size_t size) : fd_(::memfd_create("input", MFD_CLOEXEC)) {
    if (fd_ < 0) std::exit(1);
    for (size_t done = 0; done < size;) {
      const ssize_t n = ::write(fd_, data + done, size - done);
      if (n <= 0) std::exit(1);
      done += static_cast<size_t>(n);
    }
  }
  MemoryPath(const MemoryPath&) = delete;
  MemoryPath& operator=(const MemoryPath&) = delete;
  ~MemoryPath() { ::close(fd_); }
  std::string text() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

inline File memory_file(const uint8_t* data, size_t size) {
  auto file = File::open(MemoryPath(data, size).text());
  if (!file.ok()) std::exit(1);
  return std::move(file).value();
}

}  // namespace ulpscope::fuzz
