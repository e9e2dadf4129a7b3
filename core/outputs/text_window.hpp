// A window that moves over a text file of any size: what is being looked at is in memory, in one piece, and
// followed by readable padding, so that the JSON lexer's fast path works on the last record too. Used by the
// readers of outputs. Knows no format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"

namespace ulpscope {

// One pass over a file, which must outlive it. One thread.
class TextWindow {
 public:
  static constexpr size_t kPaddingBytes = size_t{16} << 10;  // more than JsonLexer looks ahead
  static constexpr size_t kMaxBytes = size_t{64} << 20;      // of text that may be in memory at once

  explicit TextWindow(const File& file);

  // What is in memory from the cursor on.
  std::string_view rest() const { return {buffer_.data() + cursor_, end_ - cursor_}; }
  // Of rest()[0] in the file.
  uint64_t offset() const { return base_ + cursor_; }
  // Reads more behind rest(), which moves. False at the end of the file, at kMaxBytes, and after an error.
  bool more();
  bool is_full() const { return end_ - cursor_ >= kMaxBytes; }
  // Moves the cursor; size is at most that of rest().
  void consume(size_t size) { cursor_ += size; }
  // Set once reading has failed.
  const std::optional<Error>& error() const { return error_; }

 private:
  const File& file_;
  std::vector<char> buffer_;
  size_t cursor_ = 0, end_ = 0;
  uint64_t base_ = 0;  // offset of buffer_[0] in the file
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace ulpscope
