// Fuzzes the reading of stack.json.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/framework_dump_tree.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ulpscope;
  TextTable keys;
  for (const char* key : {"a", "b", "Torch.f.0.forward"}) keys.add(key);
  JsonLexer lexer(std::string_view(reinterpret_cast<const char*>(data), size));
  StackTable stacks;
  const bool ok = stacks.read(lexer, keys).ok();
  for (uint32_t key = 0; key < keys.size(); ++key)
    if (!ok && !stacks.stack(key).empty()) std::abort();
  return 0;
}
