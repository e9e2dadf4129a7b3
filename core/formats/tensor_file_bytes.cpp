#include "formats/tensor_file_bytes.hpp"

#include <algorithm>

namespace ulpscope {

Status FileEnds::load() {
  const std::span<std::byte> buffer(buffer_);
  if (file_.size() <= buffer.size()) {
    head_ = static_cast<size_t>(file_.size());
    return file_.read_exact(0, buffer.first(head_));
  }
  ULPSCOPE_TRY(file_.read_exact(file_.size() - kEnd, buffer.last(kEnd)));
  ULPSCOPE_TRY(file_.read_exact(0, buffer.first(kEnd)));
  head_ = kEnd;
  tail_ = kEnd;
  return {};
}

Result<Bytes> FileEnds::view(uint64_t offset, uint64_t size, std::vector<std::byte>& scratch) const {
  const uint64_t end = file_.size();
  if (offset <= head_ && size <= head_ - offset)
    return Bytes(buffer_).subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
  if (offset >= end - tail_ && offset <= end && size <= end - offset)
    return Bytes(buffer_).subspan(static_cast<size_t>(offset - (end - tail_)) + kEnd,
                                  static_cast<size_t>(size));
  if (offset > end || size > end - offset)
    return Error{Code::format, file_.path() + ": ends at byte " + std::to_string(end) + ", expected " +
                                   std::to_string(size) + " bytes from byte " + std::to_string(offset)};
  scratch.resize(static_cast<size_t>(size));
  ULPSCOPE_TRY(file_.read_exact(offset, scratch));
  return Bytes(scratch);
}

}  // namespace ulpscope
