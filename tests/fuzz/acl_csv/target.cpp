// Fuzzes statistics tables and file names of offline-model dumps.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/acl_names.hpp"
#include "formats/acl_statistics.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ulpscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = parse_acl_statistics(text, "x.csv");
  if (!table.ok() && table.error().message.empty()) std::abort();
  if (const auto name = parse_acl_name(text); name && (name->op_type.empty() || name->op_name.empty()))
    std::abort();
  (void)parse_golden_name(text);
  return 0;
}
