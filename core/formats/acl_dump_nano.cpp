// uint32 magic, version; block tag 4 (inputs), block tag 5 (outputs): uint32 tag, length, count, records
//   input   int32 data_type, format, address_type; uint64 address, offset, size; uint32 list_length; list
//   output  int32 data_type, format, address_type, original_index, original_data_type, original_format;
//           uint64 address, offset, size; uint32 list_length; list
//   list    uint32 tag, length in bytes, values: 0 shape, 1 original shape (uint64 each), 2 original name
#include <algorithm>
#include <span>

#include "base/text.hpp"
#include "formats/acl_dump_parts.hpp"
#include "formats/acl_types.hpp"
#include "formats/tensor_file_bytes.hpp"

namespace ulpscope {
namespace {

constexpr uint32_t kMagic = 0x5a5a5a5a, kInputs = 4, kOutputs = 5;
// Small devices have small models; their header is read whole.
constexpr uint64_t kMaxHeaderBytes = uint64_t{16} << 20;
constexpr size_t kMaxDims = 32;

// Numbers in order out of a part of the header. A read past the end makes everything after it 0 and is
// remembered.
class Cursor {
 public:
  // begin: place of the bytes in the file.
  Cursor(Bytes bytes, uint64_t begin) : bytes_(bytes), end_(begin + bytes.size()) {}
  uint32_t u32() { return number<uint32_t>(); }
  int32_t i32() { return static_cast<int32_t>(u32()); }
  uint64_t u64() { return number<uint64_t>(); }
  Bytes take(uint64_t size) {
    if (size > bytes_.size()) broken_ = true;
    const Bytes part = bytes_.first(broken_ ? 0 : static_cast<size_t>(size));
    bytes_ = bytes_.subspan(part.size());
    return part;
  }
  size_t left() const { return bytes_.size(); }
  // Byte of the file where the next number begins.
  uint64_t position() const { return end_ - bytes_.size(); }
  bool broken() const { return broken_; }

 private:
  template <class T>
  T number() {
    const Bytes part = take(sizeof(T));
    return part.size() < sizeof(T) ? T{0} : load_le<T>(part, 0);
  }
  Bytes bytes_;
  uint64_t end_;
  bool broken_ = false;
};

void read_shape(Bytes bytes, uint64_t begin, AclTensor& tensor, Shape& shape) {
  if (bytes.size() / 8 > kMaxDims || bytes.size() % 8 != 0) {
    tensor.problem = "header: byte " + std::to_string(begin) + ": a shape of " +
                     std::to_string(bytes.size()) + " bytes, expected 8 for each of at most 32";
    return;
  }
  for (size_t i = 0; i < bytes.size(); i += 8)
    shape.push_back(static_cast<int64_t>(load_le<uint64_t>(bytes, i)));
}

AclTensor read_record(Cursor& cursor, AclPart part, uint32_t index) {
  AclTensor tensor;
  tensor.part = part;
  tensor.index = index;
  tensor.record_at = cursor.position();
  tensor.data_type = acl_type_of_compiler(cursor.i32());
  tensor.format = cursor.i32() & 0xff;
  cursor.i32();  // address type
  if (part == AclPart::output) {
    tensor.original_index = cursor.u32();
    cursor.i32();  // original data type
    tensor.original_format = cursor.i32() & 0xff;
  }
  tensor.address = cursor.u64();
  cursor.u64();  // offset in the device's memory
  tensor.size = cursor.u64();
  const uint32_t list_bytes = cursor.u32();
  const uint64_t list_begin = cursor.position();
  Cursor list(cursor.take(list_bytes), list_begin);
  while (list.left() > 0 && !list.broken()) {
    const uint32_t tag = list.u32();
    const uint32_t value_bytes = list.u32();
    const uint64_t value_begin = list.position();
    const Bytes value = list.take(value_bytes);
    if (tag == 0) read_shape(value, value_begin, tensor, tensor.shape);
    if (tag == 1) read_shape(value, value_begin, tensor, tensor.original_shape);
    if (tag == 2) tensor.original_name = valid_utf8(as_text(value));
  }
  if (list.broken())
    tensor.problem = "header: byte " + std::to_string(list.position()) + ": its record is cut off";
  return tensor;
}

}  // namespace

Result<AclDump> read_acl_nano(const File& file, uint64_t size) {
  const std::string where = file.path() + ": header: ";
  const auto place = [](const Cursor& at) { return "byte " + std::to_string(at.position()) + ": "; };
  if (size > kMaxHeaderBytes)
    return Error{Code::unsupported, where + std::to_string(size) + " bytes, expected at most " +
                                        std::to_string(kMaxHeaderBytes) + " in this form"};
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  ULPSCOPE_TRY(file.read_exact(8, bytes));
  Cursor cursor(Bytes(bytes), 8);
  AclDump dump;
  dump.nano = true;
  if (cursor.u32() != kMagic) return Error{Code::internal, where + "no magic number"};
  dump.version = "nano " + std::to_string(cursor.u32());
  while (cursor.left() > 0 && !cursor.broken()) {
    const uint32_t tag = cursor.u32();
    const uint32_t block_bytes = cursor.u32();
    const uint64_t block_begin = cursor.position();
    Cursor block(cursor.take(block_bytes), block_begin);
    if (tag != kInputs && tag != kOutputs) continue;
    const uint32_t count = block.u32();
    for (uint32_t i = 0; i < count && !block.broken(); ++i) {
      if (dump.tensors.size() >= kMaxAclTensors)
        return Error{Code::unsupported,
                     where + "more than " + std::to_string(kMaxAclTensors) + " tensors in one file"};
      dump.tensors.push_back(read_record(block, tag == kInputs ? AclPart::input : AclPart::output, i));
    }
    if (block.broken()) return Error{Code::format, where + place(block) + "a block of tensors is cut off"};
  }
  if (cursor.broken()) return Error{Code::format, where + place(cursor) + "cut off"};
  std::stable_sort(dump.tensors.begin(), dump.tensors.end(),
                   [](const AclTensor& a, const AclTensor& b) { return a.part < b.part; });
  return dump;
}

}  // namespace ulpscope
