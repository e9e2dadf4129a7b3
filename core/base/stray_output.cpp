#include "base/stray_output.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>

namespace ulpscope {
namespace {

constexpr size_t kMostShownBytes = 200;

// Set once, before there are threads; -1: nothing was diverted.
int answer = -1;
std::atomic<int> aside{-1};
std::atomic<int64_t> taken{0};  // bytes of it that were told

int64_t size_of(int descriptor) noexcept {
  struct stat status = {};
  return ::fstat(descriptor, &status) == 0 ? static_cast<int64_t>(status.st_size) : 0;
}

}  // namespace

void divert_stray_output() noexcept {
  if (aside >= 0) return;
  const int memory = ::memfd_create("stray_output", MFD_CLOEXEC);
  const int kept = memory < 0 ? -1 : ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  // Appending, so that the place at which the next text goes is its end, whoever writes it.
  if (kept < 0 || ::fcntl(memory, F_SETFL, O_APPEND) != 0 || ::dup2(memory, STDOUT_FILENO) < 0) {
    if (kept >= 0) ::close(kept);
    if (memory >= 0) ::close(memory);
    return;
  }
  answer = kept;
  aside = memory;
}

int answer_descriptor() noexcept { return aside >= 0 ? answer : STDOUT_FILENO; }

StrayOutput take_stray_output() {
  static std::mutex takers_mutex;
  StrayOutput found;
  if (aside < 0) return found;
  const std::lock_guard lock(takers_mutex);
  std::fflush(stdout);
  const int64_t begin = taken, end = size_of(aside);
  if (end <= begin) return found;
  found.size_bytes = static_cast<uint64_t>(end - begin);
  found.beginning.resize(std::min<uint64_t>(found.size_bytes, kMostShownBytes));
  const ssize_t got = ::pread(aside, found.beginning.data(), found.beginning.size(), begin);
  found.beginning.resize(got > 0 ? static_cast<size_t>(got) : 0);
  taken = end;
  return found;
}

void spill_stray_output() noexcept {
  if (aside < 0) return;
  char buffer[4096];
  for (int64_t at = taken;;) {
    const ssize_t got = ::pread(aside, buffer, sizeof buffer, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    for (ssize_t done = 0; done < got;) {
      const ssize_t written = ::write(STDERR_FILENO, buffer + done, static_cast<size_t>(got - done));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      done += written;
    }
    at += got;
    taken = at;
  }
}

}  // namespace ulpscope
