// Fuzzes the reading of dump.json and debug.json: tokens, outline, entries, call numbers, guessed parents and
// tokens of vLLM.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "formats/framework_dump_outline.hpp"
#include "formats/framework_dump_tokens.hpp"
#include "formats/json_tape.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ulpscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TextTable table;
  JsonLexer first(text);
  auto outline = read_outline(first, table, true);
  if (!outline.ok()) return 0;
  std::vector<DumpKey> keys;
  for (const OutlineEntry& entry : outline->entries) keys.push_back(parse_dump_key(table.text(entry.key)));
  number_calls(*outline, keys);
  const std::vector<uint32_t> parents = guess_parents(keys);
  for (size_t i = 0; i < keys.size(); ++i) outline->entries[i].parent = parents[i];
  assign_tokens(*outline, keys, {}, table, 0);

  JsonLexer second(text);
  JsonTape tape;
  EntryReader reader;
  size_t index = 0;
  (void)walk_dump(
      second, [&](std::string_view, JsonToken token) { skip_json_value(second, token); },
      [&](std::string_view name) {
        if (index == keys.size()) return false;
        if (table.text(outline->entries[index].key) != name) std::abort();  // both passes see the same keys
        const JsonRead read = tape.read(second);
        if (read == JsonRead::ok) {
          reader.read(tape, keys[index]);
          embedded_tokens(keys[index], reader);
          // What is written for the host must be JSON again.
          JsonLexer tree(reader.tree());
          JsonToken token = tree.next();
          while (token != JsonToken::end && token != JsonToken::broken) token = tree.next();
          if (token == JsonToken::broken) std::abort();
        }
        ++index;
        return true;
      });
  return 0;
}
