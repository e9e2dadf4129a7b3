#include "formats/framework_dump_outline.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "formats/json_tape.hpp"

namespace ulpscope {
namespace {

// What a forward pass repeats at its start: the call without its number, and its arguments without their
// first dimension, which is the number of tokens.
class AnchorFinder {
 public:
  // Reads the entry's value where the entry may be an anchor, else passes over it. False when the text is
  // broken.
  bool read(JsonLexer& lexer, std::string_view name, OutlineEntry& entry) {
    const DumpKey key = parse_dump_key(name);
    if (key.form != KeyForm::api || key.phase != Phase::forward ||
        (!first_name_.empty() && key.counted != first_name_))
      return skip_json_value(lexer, lexer.next());
    const JsonRead read = tape_.read(lexer);
    if (read != JsonRead::ok) return read != JsonRead::broken;
    const std::string signature = signature_of(key);
    if (first_name_.empty()) {
      first_name_ = key.counted;
      first_signature_ = signature;
    }
    entry.anchor = signature == first_signature_;
    return true;
  }

 private:
  std::string signature_of(const DumpKey& key) {
    reader_.read(tape_, key);
    std::string text = reader_.tree();
    for (size_t i = 0; i < reader_.tensor_count(); ++i) {
      const EntryTensor& tensor = reader_.tensor(i);
      text += '|';
      for (size_t dim = 1; dim < tensor.shape.size(); ++dim) text += std::to_string(tensor.shape[dim]) + ',';
    }
    return text;
  }

  std::string first_name_, first_signature_;
  JsonTape tape_;
  EntryReader reader_;
};

}  // namespace

Result<DumpOutline> read_outline(JsonLexer& lexer, TextTable& keys, bool find_anchors) {
  DumpOutline outline;
  AnchorFinder anchors;
  bool in_data = false;
  const Status status = walk_dump(
      lexer,
      [&](std::string_view name, JsonToken token) {
        if (token == JsonToken::text && name == "task") outline.task = lexer.text();
        if (token == JsonToken::text && name == "level") outline.level = lexer.text();
        skip_json_value(lexer, token);
      },
      [&](std::string_view name) {
        in_data = true;
        OutlineEntry entry;
        entry.key = keys.add(name);
        const bool whole =
            find_anchors ? anchors.read(lexer, name, entry) : skip_json_value(lexer, lexer.next());
        if (whole) outline.entries.push_back(entry);
        return true;
      });
  if (status.ok()) return outline;
  if (!in_data) return status.error();
  outline.broken = status.error();
  return outline;
}

void number_calls(DumpOutline& outline, const std::vector<DumpKey>& keys) {
  std::vector<bool> seen;
  std::vector<size_t> repeated;
  for (size_t i = 0; i < outline.entries.size(); ++i) {
    OutlineEntry& entry = outline.entries[i];
    entry.call = keys[i].call;
    if (entry.key >= seen.size()) seen.resize(std::max<size_t>(entry.key + 1, seen.size() * 2));
    if (seen[entry.key]) repeated.push_back(i);
    seen[entry.key] = true;
  }
  if (repeated.empty()) return;
  const auto counter = [&](size_t i) {
    return std::string(keys[i].counted) + (keys[i].phase == Phase::backward ? "<" : ">");
  };
  std::unordered_map<std::string, std::set<uint32_t>> used;
  std::unordered_map<std::string, uint32_t> next;
  for (const size_t i : repeated) used[counter(i)];
  for (size_t i = 0; i < outline.entries.size(); ++i)
    if (const auto found = used.find(counter(i)); found != used.end()) found->second.insert(keys[i].call);
  for (const size_t i : repeated) {
    uint32_t& free = next[counter(i)];
    while (used[counter(i)].contains(free)) ++free;
    used[counter(i)].insert(free);
    outline.entries[i].call = free;
    outline.entries[i].repeated = true;
  }
}

}  // namespace ulpscope
