#include "cli/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ulpscope {

Output::~Output() { drain(); }

void Output::drain() {
  std::string_view rest = buffer_;
  while (!rest.empty() && failure_ == 0) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written > 0)
      rest.remove_prefix(static_cast<size_t>(written));
    else if (written < 0 && errno != EINTR)
      failure_ = errno;
  }
  buffer_.clear();
}

Status Output::flush() {
  drain();
  if (failure_ != 0) return Error{Code::io, "stdout: " + std::generic_category().message(failure_)};
  return {};
}

bool Output::is_terminal() const { return ::isatty(descriptor_) == 1; }

int terminal_width(int descriptor, int otherwise) {
  winsize size = {};
  if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return otherwise;
  return size.ws_col;
}

}  // namespace ulpscope
