// Fields of the messages, by number:
//   DumpData    1 version  2 dump_time  3 output*  4 input*  5 buffer*  6 op_name  7 attr*  8 space*
//   OpOutput    1 data_type 2 format 3 shape 4 original_op 5 data 6 size 7 original_shape 8 sub_format 9
//   address OpInput     1 data_type 2 format 3 shape 4 data 5 size 6 original_shape 7 sub_format 8 address
//   OriginalOp  1 name 2 output_index 3 data_type 4 format      Shape 1 dim*
//   OpBuffer, Workspace  1 type 2 data 3 size                   OpAttr 1 name 2 value
#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "formats/acl_dump_parts.hpp"
#include "formats/acl_wire.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMaxDims = 32;
constexpr size_t kMaxAttributes = 256;

// Numbers of the fields of a tensor message; 0: the message has no such field.
struct TensorFields {
  uint32_t data_type, format, shape, original_op, data, size, original_shape, sub_format, address;
};
constexpr TensorFields kOutputFields = {1, 2, 3, 4, 5, 6, 7, 8, 9};
constexpr TensorFields kInputFields = {1, 2, 3, 0, 4, 5, 6, 7, 8};
constexpr TensorFields kBlockFields = {0, 0, 0, 0, 2, 3, 0, 0, 0};

int32_t to_number(uint64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

class MessageReader {
 public:
  MessageReader(const File& file, uint64_t begin, uint64_t end)
      : input_(std::make_unique<WireInput>(file)), root_(*input_, begin, end) {}

  Result<AclDump> run() {
    WireField field;
    while (root_.next(field)) ULPSCOPE_TRY(take(field));
    if (root_.error()) return *root_.error();
    // Outputs come before inputs in the message and after them in the data.
    std::stable_sort(dump_.tensors.begin(), dump_.tensors.end(),
                     [](const AclTensor& a, const AclTensor& b) { return a.part < b.part; });
    return std::move(dump_);
  }

 private:
  Status take(const WireField& field) {
    if (field.is(2, WireType::varint)) dump_.dump_time_us = field.value;
    if (field.type != WireType::bytes) return {};
    switch (field.number) {
      case 1: {
        ULPSCOPE_ASSIGN(dump_.version, name_text(field));
        return {};
      }
      case 3:
        return tensor(field, AclPart::output, kOutputFields);
      case 4:
        return tensor(field, AclPart::input, kInputFields);
      case 5:
        return tensor(field, AclPart::buffer, kBlockFields);
      case 6: {
        ULPSCOPE_ASSIGN(dump_.op_name, name_text(field));
        return {};
      }
      case 7:
        return attribute(field);
      case 8:
        return tensor(field, AclPart::space, kBlockFields);
      default:
        return {};
    }
  }

  // A text without bytes that are no UTF-8: it is data of a stranger and is shown everywhere.
  Result<std::string> name_text(const WireField& field) const {
    ULPSCOPE_ASSIGN(const std::string text, wire_text(*input_, field, kMaxAclTextBytes));
    return valid_utf8(text);
  }

  Status attribute(const WireField& field) {
    if (dump_.attributes.size() >= kMaxAttributes) return {};
    std::pair<std::string, std::string> attribute;
    WireMessage message = root_.inside(field);
    WireField part;
    while (message.next(part)) {
      if (part.is(1, WireType::bytes)) {
        ULPSCOPE_ASSIGN(attribute.first, name_text(part));
      } else if (part.is(2, WireType::bytes)) {
        ULPSCOPE_ASSIGN(attribute.second, name_text(part));
      }
    }
    if (message.error()) return *message.error();
    dump_.attributes.push_back(std::move(attribute));
    return {};
  }

  Status tensor(const WireField& field, AclPart part, const TensorFields& fields) {
    if (dump_.tensors.size() >= kMaxAclTensors)
      return Error{Code::unsupported, input_->file().path() + ": header: more than " +
                                          std::to_string(kMaxAclTensors) + " tensors in one file"};
    AclTensor tensor;
    tensor.part = part;
    tensor.record_at = field.begin;
    tensor.index = counts_[static_cast<size_t>(part)]++;
    WireMessage message = root_.inside(field);
    WireField member;
    while (message.next(member)) {
      if (member.type == WireType::varint) take_number(member, fields, tensor);
      if (member.type != WireType::bytes || member.number == 0) continue;
      if (member.number == fields.shape) ULPSCOPE_TRY(shape(message, member, tensor, tensor.shape));
      if (member.number == fields.original_shape)
        ULPSCOPE_TRY(shape(message, member, tensor, tensor.original_shape));
      if (member.number == fields.original_op) ULPSCOPE_TRY(original_op(message, member, tensor));
      if (member.number == fields.data) {
        tensor.offset = member.begin;
        tensor.size_bytes = member.size;
      }
    }
    if (message.error()) return *message.error();
    dump_.tensors.push_back(std::move(tensor));
    return {};
  }

  static void take_number(const WireField& member, const TensorFields& fields, AclTensor& tensor) {
    if (member.number == fields.data_type) tensor.data_type = to_number(member.value);
    if (member.number == fields.format) tensor.format = to_number(member.value);
    if (member.number == fields.size) tensor.size = member.value;
    if (member.number == fields.sub_format) tensor.sub_format = to_number(member.value);
    if (member.number == fields.address) tensor.address = member.value;
  }

  // Dimensions, packed or one by one. A dynamic one, -1, comes as 2^64 - 1.
  Status shape(WireMessage& parent, const WireField& field, AclTensor& tensor, Shape& dims) const {
    WireMessage message = parent.inside(field);
    WireField member;
    const auto add = [&](uint64_t dim) {
      if (dims.size() == kMaxDims)
        tensor.problem = "more than 32 dimensions (byte " + std::to_string(field.begin) + " of the header)";
      else
        dims.push_back(static_cast<int64_t>(dim));
    };
    while (message.next(member)) {
      if (member.is(1, WireType::varint)) add(member.value);
      if (!member.is(1, WireType::bytes)) continue;
      WireMessage packed = message.inside(member);
      uint64_t dim = 0;
      while (packed.next_number(dim)) add(dim);
      if (packed.error()) return *packed.error();
    }
    if (message.error()) return *message.error();
    return {};
  }

  Status original_op(WireMessage& parent, const WireField& field, AclTensor& tensor) const {
    WireMessage message = parent.inside(field);
    WireField member;
    tensor.original_format = 0;
    while (message.next(member)) {
      if (member.is(1, WireType::bytes)) {
        ULPSCOPE_ASSIGN(tensor.original_name, name_text(member));
      }
      if (member.is(2, WireType::varint)) tensor.original_index = static_cast<uint32_t>(member.value);
      // Unmasked: the compiler's own number, whose low 8 bits are the format.
      if (member.is(4, WireType::varint)) tensor.original_format = to_number(member.value & 0xff);
    }
    if (message.error()) return *message.error();
    return {};
  }

  std::unique_ptr<WireInput> input_;
  WireMessage root_;
  AclDump dump_;
  uint32_t counts_[4] = {};  // tensors of each part so far
};

}  // namespace

Result<AclDump> read_acl_message(const File& file, uint64_t begin, uint64_t end) {
  return MessageReader(file, begin, end).run();
}

}  // namespace ulpscope
