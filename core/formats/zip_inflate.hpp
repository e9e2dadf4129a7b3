// One raw deflate stream of a file as a sequence of bytes, in constant memory. Used for packed ZIP records,
// which only tools other than torch write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/file.hpp"
#include "base/result.hpp"

namespace ulpscope {

// One thread at a time. Refers to the file; does not own it.
class InflateStream {
 public:
  // The stream at [offset, offset + packed_size) must unpack to exactly size bytes.
  static Result<InflateStream> open(const File& file, uint64_t offset, uint64_t packed_size, uint64_t size);
  InflateStream(InflateStream&&) noexcept;
  InflateStream& operator=(InflateStream&&) noexcept;
  ~InflateStream();

  // The next bytes, less than dst.size() only at the end. format: the packed bytes are damaged, or unpack to
  // another size; io.
  Result<size_t> read(std::span<std::byte> dst);

 private:
  struct State;
  explicit InflateStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ulpscope
