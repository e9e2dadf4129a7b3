// Fuzzes the reading of dump.json and debug.json: tokens, outline, entries, call numbers, guessed parents and
// tokens of vLLM.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "formats/framework_dump_kept.hpp"
#include "formats/framework_dump_outline.hpp"
#include "formats/framework_dump_tokens.hpp"
#include "formats/json_tape.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ulpscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TextTable table;
  JsonLexer lexer(text);
  JsonTape tape;
  EntryReader reader;
  AnchorFinder anchors;
  KeptEntries kept;
  auto outline = read_outline(lexer, table, [&](std::string_view name, OutlineEntry& entry) {
    const JsonRead read = tape.read(lexer);
    if (read == JsonRead::broken) return false;
    if (read != JsonRead::ok) {
      kept.add_fault("not read");
      return true;
    }
    const DumpKey key = parse_dump_key(name);
    reader.read(tape, key);
    entry.anchor = anchors.is_anchor(key, reader);
    kept.add(reader);
    // What is written for the host must be JSON again.
    JsonLexer tree(reader.tree());
    JsonToken token = tree.next();
    while (token != JsonToken::end && token != JsonToken::broken) token = tree.next();
    if (token == JsonToken::broken) std::abort();
    return true;
  });
  if (!outline.ok()) return 0;
  if (outline->entries.size() != kept.size()) std::abort();
  std::vector<DumpKey> keys;
  for (const OutlineEntry& entry : outline->entries) keys.push_back(parse_dump_key(table.text(entry.key)));
  number_calls(*outline, keys);
  const std::vector<uint32_t> parents = guess_parents(keys);
  for (size_t i = 0; i < keys.size(); ++i) outline->entries[i].parent = parents[i];
  assign_tokens(*outline, keys, {}, table, 0);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!kept.fault(i).empty()) continue;
    kept.recall(i, reader);
    embedded_tokens(keys[i], reader);
  }
  return 0;
}
