// An ATB container: whatever the header says, the elements lie inside the file.
#include <cstdint>
#include <cstdlib>

#include "formats/atb_container.hpp"
#include "formats/atb_names.hpp"
#include "memory_file.hpp"

using namespace ulpscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const File file = fuzz::memory_file(data, size);
  const auto read = read_atb_container(file);
  if (!read.ok()) return 0;
  if (read->shape.size() > 32 || atb_element_count(read->shape) < 0) std::abort();
  if (read->is_alias) (void)parse_atb_alias(read->alias);
  if (!read->has_data) return 0;
  if (read->data_offset > size || read->data_size > size - read->data_offset) std::abort();
  const auto count = static_cast<uint64_t>(atb_element_count(read->shape));
  if (read->dtype != DType::none && read->data_size != count * size_bytes(read->dtype)) std::abort();
  return 0;
}
