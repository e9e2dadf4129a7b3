#include "formats/acl_wire.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace ulpscope {
namespace {

// Groups inside groups; nobody writes groups at all.
constexpr size_t kMaxGroups = 64;

}  // namespace

bool WireInput::refill(uint64_t offset) {
  held_ = 0;
  const auto got = file_.read_at(offset, window_);
  if (!got.ok() || *got == 0) return false;
  begin_ = offset;
  held_ = *got;
  return true;
}

bool WireMessage::fail(std::string_view what) {
  error_ = Error{Code::format, input_.file().path() + ": header: byte " + std::to_string(position_) + ": " +
                                   std::string(what)};
  return false;
}

bool WireMessage::read_varint(uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    uint8_t byte = 0;
    if (position_ >= end_ || !input_.byte(position_, byte)) return fail("a number is cut off");
    ++position_;
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return fail("a number of more than 10 bytes");
}

bool WireMessage::read_fixed(int bytes, uint64_t& value) {
  value = 0;
  if (end_ - position_ < static_cast<uint64_t>(bytes)) return fail("a number is cut off");
  for (int i = 0; i < bytes; ++i) {
    uint8_t byte = 0;
    if (!input_.byte(position_++, byte)) return fail("a number is cut off");
    value |= static_cast<uint64_t>(byte) << (8 * i);
  }
  return true;
}

bool WireMessage::read_field(WireField& field) {
  uint64_t tag = 0;
  if (!read_varint(tag)) return false;
  field = {};
  if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return fail("field number outside 1 to 536870911");
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  switch (tag & 7) {
    case 0:
      return read_varint(field.value);
    case 1:
      return read_fixed(8, field.value);
    case 2:
      if (!read_varint(field.size)) return false;
      if (field.size > end_ - position_) return fail("a field reaches past the end of its message");
      field.begin = position_;
      position_ += field.size;
      return true;
    case 3:
    case 4:
      return true;
    case 5:
      return read_fixed(4, field.value);
    default:
      return fail("wire type " + std::to_string(tag & 7) + " does not exist");
  }
}

// Everything up to the end of a group that has begun.
bool WireMessage::skip_group(uint32_t number) {
  std::vector<uint32_t> open = {number};
  while (!open.empty()) {
    if (position_ >= end_) return fail("a group does not end");
    WireField field;
    if (!read_field(field)) return false;
    if (field.type == WireType::begin_group) {
      if (open.size() >= kMaxGroups) return fail("groups nested deeper than 64");
      open.push_back(field.number);
    } else if (field.type == WireType::end_group) {
      if (field.number != open.back()) return fail("the end of another group");
      open.pop_back();
    }
  }
  return true;
}

bool WireMessage::next(WireField& field) {
  while (!error_ && position_ < end_) {
    if (!read_field(field)) return false;
    if (field.type == WireType::end_group) return fail("the end of a group that did not begin");
    if (field.type != WireType::begin_group) return true;
    if (!skip_group(field.number)) return false;
  }
  return false;
}

bool WireMessage::next_number(uint64_t& value) { return !error_ && position_ < end_ && read_varint(value); }

Result<std::string> wire_text(const WireInput& input, const WireField& field, uint64_t limit_bytes) {
  if (field.size > limit_bytes)
    return Error{Code::format, input.file().path() + ": header: byte " + std::to_string(field.begin) +
                                   ": a text of " + std::to_string(field.size) + " bytes, expected at most " +
                                   std::to_string(limit_bytes)};
  std::string text(static_cast<size_t>(field.size), '\0');
  ULPSCOPE_TRY(input.file().read_exact(field.begin, std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace ulpscope
