// What a command answers on stdout: buffered, so that a million rows cost few system calls, and checked, so
// that a full disk is an error and not a short file. One thread at a time.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ulpscope {

class Output {
 public:
  // Writes to an open file descriptor, which stays the caller's.
  explicit Output(int descriptor) : descriptor_(descriptor) {}
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  Output& operator<<(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kFlushBytes) drain();
    return *this;
  }
  void line(std::string_view text) { *this << text << "\n"; }
  // Writes what is buffered. io: some of the answer could not be written, now or before.
  Status flush();
  // Whether stdout is a terminal; into a pipe or file tables stay plain.
  bool is_terminal() const;

 private:
  static constexpr size_t kFlushBytes = size_t{1} << 16;
  void drain();

  int descriptor_;
  std::string buffer_;
  int failure_ = 0;  // errno of the first write that failed
};

// Columns of the terminal behind descriptor; otherwise when it is none or does not say.
int terminal_width(int descriptor, int otherwise);

}  // namespace ulpscope
