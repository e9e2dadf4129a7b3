// Fuzzes the reading of construct.json and the search for parents in it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "formats/framework_dump_tree.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ulpscope;
  if (size == 0) return 0;
  // The first byte says which keys a dump.json would have.
  const uint8_t pattern = data[0];
  JsonLexer lexer(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  TextTable keys;
  ConstructTree tree;
  if (!tree.read(lexer, keys).ok()) return 0;
  std::vector<bool> wanted(keys.size());
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = ((pattern >> (i % 8)) & 1) != 0;
  tree.settle(wanted);
  for (const uint32_t key : tree.keys()) {
    const uint32_t parent = tree.nearest(key);
    if (parent != ConstructTree::kNone && (!wanted[parent] || parent == key)) std::abort();
    if (tree.top(key) >= keys.size()) std::abort();
    // The chain of parents ends.
    uint32_t steps = 0;
    for (uint32_t at = parent; at != ConstructTree::kNone; at = tree.nearest(at))
      if (++steps > keys.size()) std::abort();
  }
  return 0;
}
