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

// Ends the program when the system has no memory file to give: that is no finding.
inline File memory_file(const uint8_t* data, size_t size) {
  const int fd = ::memfd_create("input", MFD_CLOEXEC);
  if (fd < 0) std::exit(1);
  for (size_t done = 0; done < size;) {
    const ssize_t n = ::write(fd, data + done, size - done);
    if (n <= 0) std::exit(1);
    done += static_cast<size_t>(n);
  }
  auto file = File::open("/proc/self/fd/" + std::to_string(fd));
  ::close(fd);
  if (!file.ok()) std::exit(1);
  return std::move(file).value();
}

}  // namespace ulpscope::fuzz
