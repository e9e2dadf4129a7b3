#include "formats/tensor_writer_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace ulpscope {
namespace {

Error taken(const std::string& path) { return {Code::io, path + ": exists already and is not overwritten"}; }

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

// Renames unless the new name exists. Where the file system cannot do that in one step, a second hard link
// can.
int rename_to_free_name(const char* from, const char* to) {
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (::link(from, to) != 0) return errno;
  ::unlink(from);
  return 0;
}

}  // namespace

Error NewFile::failed(int error_number) const {
  return {Code::io, path_ + ": " + std::strerror(error_number)};
}

Result<NewFile> NewFile::create(const std::string& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) == 0) return taken(path);
  // The name is short whatever the length of the final one, and free of those that other processes took.
  constexpr int kTries = 1000;
  const std::string prefix = folder_of(path) + ".ulpscope-part-" + std::to_string(::getpid()) + "-";
  for (int i = 0; i < kTries; ++i) {
    std::string temporary = prefix + std::to_string(i);
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd >= 0) return NewFile(fd, path, std::move(temporary));
    if (errno != EEXIST) return Error{Code::io, path + ": " + std::strerror(errno)};
  }
  return Error{Code::io, path + ": no free temporary name beside it"};
}

NewFile::NewFile(NewFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})) {}

NewFile::~NewFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status NewFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(errno);
    bytes = bytes.subspan(static_cast<size_t>(n));
    size_ += static_cast<uint64_t>(n);
  }
  return {};
}

Status NewFile::patch(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(errno);
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return {};
}

Status NewFile::commit() {
  // close reports what a full or remote disk could not keep.
  if (::close(std::exchange(fd_, -1)) != 0) return failed(errno);
  const int error_number = rename_to_free_name(temporary_.c_str(), path_.c_str());
  if (error_number == EEXIST) return taken(path_);
  if (error_number != 0) return failed(error_number);
  temporary_.clear();
  return {};
}

}  // namespace ulpscope
