#include "formats/framework_dump_outline.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "formats/json_tape.hpp"

namespace ulpscope {

namespace {

// Calls on_header(name, first token) for each member of the top object and on_entry(name) for each of `data`;
// both read the value from the lexer. The errors of read_outline, a break in `data` included.
template <class OnHeader, class OnEntry>
Status walk_dump(JsonLexer& lexer, OnHeader on_header, OnEntry on_entry) {
  const auto wrong = [&lexer](std::string_view what) {
    return Error{Code::format, "byte " + std::to_string(lexer.offset()) + ": " + std::string(what)};
  };
  JsonToken token = lexer.next();
  if (token == JsonToken::broken) return lexer.error();
  if (token != JsonToken::begin_object) return wrong("expected an object");
  bool has_data = false;
  std::string name;
  while ((token = lexer.next()) == JsonToken::key) {
    name = lexer.text();
    token = lexer.next();
    if (token == JsonToken::broken) break;
    if (name != "data") {
      on_header(name, token);
      continue;
    }
    if (token != JsonToken::begin_object) return wrong("expected data to be an object");
    has_data = true;
    while ((token = lexer.next()) == JsonToken::key) {
      name = lexer.text();
      on_entry(name);
    }
    if (token == JsonToken::broken) break;
  }
  if (token == JsonToken::broken || lexer.next() == JsonToken::broken) return lexer.error();
  if (!has_data) return wrong("no member \"data\"");
  return {};
}

}  // namespace

bool AnchorFinder::is_anchor(const DumpKey& key, const EntryReader& entry) {
  if (key.form != KeyForm::api || key.phase != Phase::forward) return false;
  if (!first_name_.empty() && key.counted != first_name_) return false;
  std::string signature = entry.tree();
  for (size_t i = 0; i < entry.tensor_count(); ++i) {
    const EntryTensor& tensor = entry.tensor(i);
    signature += '|';
    for (size_t dim = 1; dim < tensor.shape.size(); ++dim)
      signature += std::to_string(tensor.shape[dim]) + ',';
  }
  if (first_name_.empty()) {
    first_name_ = key.counted;
    first_signature_ = signature;
  }
  return signature == first_signature_;
}

Result<DumpOutline> read_outline(JsonLexer& lexer, TextTable& keys, const EntryVisitor& read_entry) {
  DumpOutline outline;
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
        if (read_entry(name, entry)) outline.entries.push_back(entry);
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
