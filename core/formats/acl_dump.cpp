#include "formats/acl_dump.hpp"

#include <array>
#include <optional>

#include "formats/acl_dump_parts.hpp"
#include "formats/acl_types.hpp"
#include "formats/tensor_file_bytes.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint32_t kNanoMagic = 0x5a5a5a5a;

// Sums of the recorded sizes; nothing when they do not fit 64 bits.
struct Sizes {
  std::optional<uint64_t> all = 0, with_address = 0;
};

void add(std::optional<uint64_t>& sum, uint64_t size) {
  uint64_t next = 0;
  if (sum && !__builtin_add_overflow(*sum, size, &next))
    sum = next;
  else
    sum.reset();
}

Sizes sum_sizes(const AclDump& dump) {
  Sizes sizes;
  for (const AclTensor& tensor : dump.tensors) {
    add(sizes.all, tensor.size);
    if (tensor.address != 0) add(sizes.with_address, tensor.size);
  }
  return sizes;
}

std::string at_byte(uint64_t byte) { return "byte " + std::to_string(byte); }

void set_bad(AclTensor& tensor, std::string problem) {
  tensor.state = AclState::bad;
  if (tensor.problem.empty()) tensor.problem = std::move(problem);
}

// Bytes of the elements by type and shape; nothing for a negative dimension or a product beyond 64 bits.
std::optional<uint64_t> expected_bytes(const AclTensor& tensor, unsigned bits) {
  uint64_t count = 1;
  for (const int64_t dim : tensor.shape)
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count)) return std::nullopt;
  uint64_t total_bits = 0;
  if (__builtin_mul_overflow(count, uint64_t{bits}, &total_bits)) return std::nullopt;
  return total_bits / 8 + (total_bits % 8 != 0 ? 1 : 0);
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

void check(AclTensor& tensor) {
  if (tensor.state != AclState::good) return;
  const std::string place = " (recorded at " + at_byte(tensor.record_at) + ")";
  if (!tensor.problem.empty()) return set_bad(tensor, "");
  const AclType type = acl_type(tensor.data_type);
  const bool block = tensor.part == AclPart::buffer || tensor.part == AclPart::space;
  if (tensor.size_bytes == 0 && tensor.shape.empty()) {
    tensor.state = AclState::no_data;
    return;
  }
  if (block) return;
  if (type.dtype == DType::none) {
    tensor.state = AclState::unsupported;
    return;
  }
  const auto expected = expected_bytes(tensor, type.bits);
  const std::string what = std::string(type.name) + " " + shape_text(tensor.shape);
  if (!expected) return set_bad(tensor, what + ": a shape that no tensor has" + place);
  if (*expected > tensor.size_bytes)
    return set_bad(tensor, what + " needs " + std::to_string(*expected) + " bytes, recorded are " +
                               std::to_string(tensor.size_bytes) + place);
  if (type.bits >= 8 && tensor.size_bytes % (type.bits / 8) != 0)
    return set_bad(tensor, std::to_string(tensor.size_bytes) + " bytes are no multiple of " +
                               std::to_string(type.bits / 8) + ", the size of a " + std::string(type.name) +
                               place);
  if (*expected < tensor.size_bytes)
    tensor.warning = what + " needs " + std::to_string(*expected) + " of its " +
                     std::to_string(tensor.size_bytes) + " bytes: the first ones are read" + place;
  tensor.size_bytes = *expected;
}

// Whether a message without a length word is one of the old form.
bool is_old_form(const AclDump& dump) {
  if (dump.op_name.empty() && dump.tensors.empty()) return false;
  for (const AclTensor& tensor : dump.tensors)
    if (tensor.size_bytes != 0 && tensor.size != 0 && tensor.size != tensor.size_bytes) return false;
  return true;
}

Result<AclDump> read_old(const File& file, const Error& otherwise) {
  auto dump = read_acl_message(file, 0, file.size());
  if (!dump.ok() || !is_old_form(*dump)) return otherwise;
  dump->inlined = true;
  for (AclTensor& tensor : dump->tensors)
    if (tensor.size_bytes == 0 && tensor.size > 0)
      set_bad(tensor, "its bytes are not in the file (recorded at " + at_byte(tensor.record_at) + ")");
  check_acl_tensors(*dump);
  return dump;
}

}  // namespace

std::string_view to_text(AclPart part) {
  switch (part) {
    case AclPart::input:
      return "input";
    case AclPart::output:
      return "output";
    case AclPart::buffer:
      return "buffer";
    case AclPart::space:
      return "space";
  }
  return "input";
}

std::string AclTensor::name() const { return std::string(to_text(part)) + " " + std::to_string(index); }

void place_acl_data(const File& file, uint64_t begin, AclDump& dump) {
  const uint64_t rest = file.size() - begin;
  const Sizes sizes = sum_sizes(dump);
  const bool whole = sizes.all == rest;
  const bool skips_null = !whole && sizes.with_address == rest;
  if (sizes.all && *sizes.all < rest && !skips_null)
    dump.warnings.push_back(std::to_string(rest - *sizes.all) + " bytes at the end, from " +
                            at_byte(begin + *sizes.all) + " on, belong to no tensor");
  uint64_t used = 0;
  bool broken = false;
  for (AclTensor& tensor : dump.tensors) {
    if (skips_null && tensor.address == 0 && tensor.size > 0) {
      tensor.state = AclState::not_dumped;
      continue;
    }
    tensor.offset = begin + used;
    tensor.size_bytes = tensor.size;
    if (broken || tensor.size > rest - used) {
      set_bad(tensor, broken ? "the bytes of an earlier tensor are cut off at " + at_byte(begin + used)
                             : "size: " + std::to_string(tensor.size) + " bytes recorded, " +
                                   std::to_string(rest - used) + " are left in the file at " +
                                   at_byte(begin + used));
      tensor.size_bytes = 0;
      broken = true;
      continue;
    }
    used += tensor.size;
  }
}

void check_acl_tensors(AclDump& dump) {
  for (AclTensor& tensor : dump.tensors) check(tensor);
}

Result<AclDump> read_acl_dump(const File& file) {
  const uint64_t size = file.size();
  if (size <= kLengthBytes)
    return Error{Code::format, file.path() + ": too short: " + std::to_string(size) +
                                   " bytes, expected a length of 8 bytes and a header"};
  std::array<std::byte, 12> head = {};
  ULPSCOPE_ASSIGN(const size_t got, file.read_at(0, head));
  const auto length = load_le<uint64_t>(Bytes(head).first(got), 0);
  if (length > size - kLengthBytes)
    return read_old(file, {Code::format, file.path() + ": header length " + std::to_string(length) +
                                             " at byte 0, the file has " +
                                             std::to_string(size - kLengthBytes) + " bytes behind it"});
  const bool nano = got == head.size() && length >= 8 && load_le<uint32_t>(Bytes(head), 8) == kNanoMagic;
  auto dump =
      nano ? read_acl_nano(file, length) : read_acl_message(file, kLengthBytes, kLengthBytes + length);
  if (!dump.ok()) return nano ? std::move(dump) : read_old(file, dump.error());
  for (AclTensor& tensor : dump->tensors) tensor.offset = tensor.size_bytes = 0;
  place_acl_data(file, kLengthBytes + length, *dump);
  check_acl_tensors(*dump);
  return dump;
}

}  // namespace ulpscope
