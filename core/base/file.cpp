#include "base/file.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace ulpscope {
namespace {

// O_NONBLOCK: opening a FIFO must not wait for a writer; it has no effect on regular files.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// A file with no symbolic link anywhere in its path, which lies where its name says: nothing else has to be
// asked. -1 when there is a link, when the system has no such call, or for any reason that an ordinary
// opening will name.
int open_without_links(const std::string& path) {
  open_how how = {};
  how.flags = kOpenFlags;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how)));
}

Error io_error(const std::string& path, int error_number) {
  return {Code::io, path + ": " + std::strerror(error_number)};
}

// The file's own place after every symbolic link, asked of the open descriptor so that nothing can change in
// between.
Result<std::string> real_path_of(int fd, const std::string& path) {
  char target[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t n = ::readlink(link.c_str(), target, sizeof(target));
  if (n > 0 && static_cast<size_t>(n) < sizeof(target)) return std::string(target, static_cast<size_t>(n));
  if (::realpath(path.c_str(), target) != nullptr) return std::string(target);
  return io_error(path, errno);
}

std::string_view kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "is a FIFO";
  if (S_ISSOCK(mode)) return "is a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "is a device" : "is something else";
}

}  // namespace

Result<File> File::open(const std::string& path) {
  const int fd = ::open(path.c_str(), kOpenFlags);
  if (fd < 0) return io_error(path, errno);
  return take(fd, path);
}

Result<File> File::take(int fd, const std::string& path) {
  File file(fd, 0, path);
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return io_error(path, errno);
  if (S_ISDIR(info.st_mode)) return Error{Code::io, path + ": is a folder, expected a file"};
  if (!S_ISREG(info.st_mode))
    return Error{Code::io, path + ": " + std::string(kind_of(info.st_mode)) + ", not a regular file"};
  file.size_ = static_cast<uint64_t>(info.st_size);
  return file;
}

bool is_safe_relative(std::string_view relative) {
  if (relative.empty() || relative.front() == '/') return false;
  if (relative.find('\\') != std::string_view::npos || relative.find('\0') != std::string_view::npos)
    return false;
  if (relative.size() > 1 && relative[1] == ':') return false;
  while (!relative.empty()) {
    const size_t end = relative.find('/');
    if (relative.substr(0, end) == "..") return false;
    if (end == std::string_view::npos) break;
    relative.remove_prefix(end + 1);
  }
  return true;
}

Result<File> File::open_under(const std::string& root, std::string_view relative, bool follow_links) {
  const std::string path = root + "/" + std::string(relative);
  if (!is_safe_relative(relative)) return Error{Code::format, path + ": path leaves the dump"};
  if (const int fd = open_without_links(path); fd >= 0) return take(fd, path);
  ULPSCOPE_ASSIGN(File file, File::open(path));
  if (follow_links) return file;
  char canonical[PATH_MAX];
  if (::realpath(root.c_str(), canonical) == nullptr) return io_error(root, errno);
  ULPSCOPE_ASSIGN(const std::string place, real_path_of(file.fd_, path));
  std::string prefix = canonical;
  if (prefix != "/") prefix += '/';
  if (place.compare(0, prefix.size(), prefix) != 0)
    return Error{Code::format, path + ": path leaves the dump through a symbolic link"};
  return file;
}

File::File(File&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), size_(other.size_), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
    size_ = other.size_;
    path_ = std::move(other.path_);
  }
  return *this;
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<int64_t> File::changed_ns() const {
  struct stat status = {};
  if (::fstat(fd_, &status) != 0) return std::nullopt;
  return int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec;
}

Result<size_t> File::read_at(uint64_t offset, std::span<std::byte> dst) const {
  size_t done = 0;
  while (done < dst.size()) {
    const ssize_t n = ::pread(fd_, dst.data() + done, dst.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(path_, errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

Status File::read_exact(uint64_t offset, std::span<std::byte> dst) const {
  if (offset > size_ || dst.size() > size_ - offset)
    return Error{Code::format, path_ + ": ends at byte " + std::to_string(size_) + ", expected " +
                                   std::to_string(dst.size()) + " bytes from byte " + std::to_string(offset)};
  ULPSCOPE_ASSIGN(const size_t got, read_at(offset, dst));
  if (got != dst.size()) return Error{Code::io, path_ + ": became shorter while it was read"};
  return {};
}

Result<std::string> File::read_text(uint64_t limit_bytes) const {
  if (size_ > limit_bytes)
    return Error{Code::format, path_ + ": " + std::to_string(size_) + " bytes, expected at most " +
                                   std::to_string(limit_bytes)};
  std::string text(static_cast<size_t>(size_), '\0');
  ULPSCOPE_TRY(read_exact(0, std::as_writable_bytes(std::span(text))));
  return text;
}

void File::advise_sequential() const { ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL); }

}  // namespace ulpscope
