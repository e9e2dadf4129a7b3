#include "outputs/text_window.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace ulpscope {
namespace {

constexpr size_t kFirstBytes = size_t{1} << 20;

}  // namespace

TextWindow::TextWindow(const File& file) : file_(file) {
  const auto first = static_cast<size_t>(std::min<uint64_t>(file.size() + 1, kFirstBytes));
  buffer_.resize(first + kPaddingBytes);
  file.advise_sequential();
}

bool TextWindow::more() {
  if (ended_ || error_ || is_full()) return false;
  const size_t kept = end_ - cursor_;
  if (cursor_ > 0) std::memmove(buffer_.data(), buffer_.data() + cursor_, kept);
  base_ += cursor_;
  cursor_ = 0;
  end_ = kept;
  size_t room = buffer_.size() - kPaddingBytes - kept;
  if (room < kept || room == 0) {
    buffer_.resize(std::min(std::max(kept * 3, kFirstBytes), kMaxBytes) + kPaddingBytes);
    room = buffer_.size() - kPaddingBytes - kept;
  }
  const std::span<char> target(buffer_.data() + kept, room);
  const auto got = file_.read_at(base_ + kept, std::as_writable_bytes(target));
  if (!got.ok()) {
    error_ = got.error();
    return false;
  }
  end_ += *got;
  ended_ = *got < room;
  std::fill_n(buffer_.data() + end_, kPaddingBytes, '\0');
  return *got > 0;
}

}  // namespace ulpscope
