#include "report/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/stray_output.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr mode_t kFileMode = 0644;

Error system_error(const std::string& path, int error_number) {
  return Error{Code::io, printable(path) + ": cannot be written: " + std::strerror(error_number)};
}

Error taken(const std::string& path) {
  return Error{Code::io, printable(path) + ": exists already, and a result is never overwritten"};
}

bool exists(const std::string& path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0;
}

// Renames without replacing. Where the file system cannot do that in one step the name is looked at first.
Status rename_to_free_name(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) return taken(to);
  if (errno != EINVAL && errno != ENOSYS) return system_error(to, errno);
  if (exists(to)) return taken(to);
  if (std::rename(from.c_str(), to.c_str()) != 0) return system_error(to, errno);
  return {};
}

// 0, or the errno of the write that failed.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

Result<TemporaryFile> TemporaryFile::beside(const std::string& path) {
  if (exists(path)) return taken(path);
  const std::string temporary = path + "." + std::to_string(::getpid()) + ".part";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (fd < 0) return system_error(path, errno);
  ::close(fd);
  return TemporaryFile(path, temporary);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : final_(std::move(other.final_)), temporary_(std::exchange(other.temporary_, {})) {}

TemporaryFile::~TemporaryFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status TemporaryFile::publish() {
  ULPSCOPE_TRY(rename_to_free_name(temporary_, final_));
  temporary_.clear();
  return {};
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  if (path == "-") return OutputFile(answer_descriptor(), "standard output", std::nullopt);
  ULPSCOPE_ASSIGN(TemporaryFile file, TemporaryFile::beside(path));
  const int fd = ::open(file.path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return system_error(path, errno);
  return OutputFile(fd, path, std::move(file));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      file_(std::exchange(other.file_, std::nullopt)),
      buffer_(std::move(other.buffer_)),
      status_(std::move(other.status_)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0 && file_) ::close(fd_);
}

void OutputFile::flush() {
  if (status_.ok()) {
    const int error_number = write_all(fd_, buffer_);
    if (error_number != 0) status_ = system_error(path_, error_number);
  }
  buffer_.clear();
}

void OutputFile::write(std::string_view text) {
  flush();
  if (!status_.ok()) return;
  if (const int error_number = write_all(fd_, text); error_number != 0)
    status_ = system_error(path_, error_number);
}

Status OutputFile::commit() {
  flush();
  const int fd = std::exchange(fd_, -1);
  if (file_ && ::close(fd) != 0 && status_.ok()) status_ = system_error(path_, errno);
  ULPSCOPE_TRY(status_);
  return file_ ? file_->publish() : Status();
}

}  // namespace ulpscope
