// The protobuf wire format over a file, read in order through a window of fixed size: fields are located,
// never loaded, so that a message of gigabytes costs 64 KiB. Used by the reader of offline-model dumps. Knows
// no message type.
//
//   field   = tag varint (number << 3 | type), then by type
//   type 0    varint, at most 10 bytes          type 1   8 bytes
//   type 2    length varint, that many bytes    type 5   4 bytes
//   type 3    fields up to type 4 of the same number (groups, skipped)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.hpp"
#include "base/result.hpp"

namespace ulpscope {

// The bytes of a file through a window. One thread.
class WireInput {
 public:
  explicit WireInput(const File& file) : file_(file) {}
  WireInput(const WireInput&) = delete;
  WireInput& operator=(const WireInput&) = delete;

  const File& file() const { return file_; }
  // The byte at an offset; false past the end of the file or when reading fails.
  bool byte(uint64_t offset, uint8_t& out) {
    if (offset - begin_ < held_) {
      out = std::to_integer<uint8_t>(window_[static_cast<size_t>(offset - begin_)]);
      return true;
    }
    return refill(offset) && byte(offset, out);
  }

 private:
  bool refill(uint64_t offset);

  static constexpr size_t kWindowBytes = 64 * 1024;
  const File& file_;
  std::array<std::byte, kWindowBytes> window_;
  uint64_t begin_ = 0;
  size_t held_ = 0;
};

enum class WireType : uint8_t {
  varint = 0,
  fixed64 = 1,
  bytes = 2,
  begin_group = 3,
  end_group = 4,
  fixed32 = 5
};

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::varint;
  uint64_t value = 0;            // of a varint or fixed number
  uint64_t begin = 0, size = 0;  // of bytes, in the file

  bool is(uint32_t wanted, WireType wanted_type) const { return number == wanted && type == wanted_type; }
};

// The fields of one message, in order. Refers to its input; one thread.
class WireMessage {
 public:
  // The message in [begin, end) of the file; end is not past the end of the file.
  WireMessage(WireInput& input, uint64_t begin, uint64_t end) : input_(input), position_(begin), end_(end) {}

  // The next field; groups are passed over. False at the end of the message and where it is broken.
  bool next(WireField& field);
  // What is broken, with its byte. format.
  const std::optional<Error>& error() const { return error_; }
  // The fields inside a field of bytes.
  WireMessage inside(const WireField& field) { return {input_, field.begin, field.begin + field.size}; }
  // A varint of a packed list; the list is a message of bare numbers. False as next.
  bool next_number(uint64_t& value);

 private:
  bool read_varint(uint64_t& value);
  bool read_fixed(int bytes, uint64_t& value);
  bool read_field(WireField& field);
  bool skip_group(uint32_t number);
  bool fail(std::string_view what);

  WireInput& input_;
  uint64_t position_, end_;
  std::optional<Error> error_;
};

// Up to limit_bytes of a field as text. format: the field is longer. io.
Result<std::string> wire_text(const WireInput& input, const WireField& field, uint64_t limit_bytes);

}  // namespace ulpscope
