// A file of an offline-model dump of any bytes: every usable tensor lies inside the file, and what a plan of
// its layout reads does too.
#include <array>
#include <cstdlib>

#include "formats/acl_dump.hpp"
#include "formats/acl_overflow.hpp"
#include "formats/acl_slices.hpp"
#include "formats/acl_types.hpp"
#include "formats/storage_stream.hpp"
#include "memory_file.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_layout(const ulpscope::AclTensor& tensor, const uint8_t* data, size_t size) {
  using namespace ulpscope;
  StorageQuery query{tensor.format & 0xff,
                     tensor.sub_format,
                     tensor.shape,
                     tensor.original_shape,
                     !tensor.original_shape.empty(),
                     {}};
  for (const int64_t dim : tensor.original_shape) query.original_known &= dim >= 0;
  if (tensor.original_format >= 0) query.layouts.push_back(tensor.original_format);
  auto plan = plan_storage(query);
  const unsigned bytes = size_bytes(acl_type(tensor.data_type).dtype);
  if (!plan.ok() || bytes == 0) return;
  auto stream =
      StorageStream::open(fuzz::memory_file(data, size), tensor.offset, tensor.size_bytes, *plan, bytes);
  if (!stream.ok()) return;
  std::array<std::byte, 1021> piece;
  for (uint64_t total = 0; total < (1 << 20);) {
    const auto got = (*stream)->read(piece);
    if (!got.ok() || *got == 0) return;
    total += *got;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ulpscope;
  const File file = fuzz::memory_file(data, size);
  const auto dump = read_acl_dump(file);
  if (!dump.ok()) {
    require(!dump.error().message.empty() && dump.error().code != Code::internal);
    return 0;
  }
  int budget = 32;
  for (const AclTensor& tensor : dump->tensors) {
    if (tensor.state != AclState::good && tensor.state != AclState::unsupported) continue;
    require(tensor.offset <= size && tensor.size_bytes <= size - tensor.offset);
    if (tensor.state == AclState::good && budget-- > 0) check_layout(tensor, data, size);
  }
  for (const auto& [name, value] : dump->attributes) (void)parse_acl_slicing(value);
  (void)parse_acl_overflow(std::as_bytes(std::span(data, size)));
  return 0;
}
