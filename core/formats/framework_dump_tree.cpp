#include "formats/framework_dump_tree.hpp"

#include <algorithm>
#include <unordered_map>

#include "formats/json_tape.hpp"

namespace ulpscope {
namespace {

constexpr uint32_t kNone = TextTable::kNone;
// Megatron's count of micro steps stands among the keys.
constexpr std::string_view kMicroStepMember = "megatron_micro_step_number";

void grow(std::vector<uint32_t>& list, size_t size) {
  if (list.size() < size) list.resize(std::max(size, list.size() * 2), kNone);
}

// Calls body(name) with the tape holding the value, for each member of the object that the lexer is at.
template <class F>
Status for_each_member(JsonLexer& lexer, JsonTape& tape, F body) {
  const JsonToken first = lexer.next();
  if (first == JsonToken::broken) return lexer.error();
  if (first != JsonToken::begin_object) return Error{Code::format, "byte 0: expected an object"};
  std::string name;
  while (true) {
    const JsonToken token = lexer.next();
    if (token == JsonToken::broken) return lexer.error();
    if (token == JsonToken::end_object) return {};
    name = lexer.text();
    const uint64_t place = lexer.offset();
    const JsonRead read = tape.read(lexer);
    if (read == JsonRead::broken) return lexer.error();
    if (read != JsonRead::ok || !body(name))
      return Error{Code::format, "byte " + std::to_string(place) + ": malformed member"};
  }
}

// A frame holds its source line behind a line break; one frame must be one line.
void append_frame(std::string& out, std::string_view frame) {
  for (size_t i = 0; i < frame.size(); ++i) {
    if (frame[i] != '\n' && frame[i] != '\r') {
      out += frame[i];
      continue;
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    while (i + 1 < frame.size() && (frame[i + 1] == ' ' || frame[i + 1] == '\n' || frame[i + 1] == '\r')) ++i;
    if (i + 1 < frame.size()) out += ' ';
  }
}

bool join_frames(const JsonTape& tape, uint32_t list, std::string& out) {
  out.clear();
  for (uint32_t i = list + 1; i != tape.at(list).next; i = tape.at(i).next) {
    if (!tape.is(i, JsonKind::text)) return false;
    if (i != list + 1) out += '\n';
    append_frame(out, tape.text(i));
  }
  return true;
}

}  // namespace

Status ConstructTree::read(JsonLexer& lexer, TextTable& keys) {
  JsonTape tape;
  const Status status = for_each_member(lexer, tape, [&](std::string_view name) {
    if (name == kMicroStepMember) return true;
    uint32_t value = 0;
    if (tape.is(0, JsonKind::array)) {
      if (tape.at(0).count == 0) return false;
      value = 1;
    }
    if (!tape.is(value, JsonKind::text) && !tape.is(value, JsonKind::null)) return false;
    const uint32_t key = keys.add(name);
    const uint32_t parent = tape.is(value, JsonKind::text) ? keys.add(tape.text(value)) : kNone;
    grow(parents_, keys.size());
    known_.resize(parents_.size());
    if (!known_[key]) order_.push_back(key);
    known_[key] = true;
    parents_[key] = parent;
    return true;
  });
  if (!status.ok()) *this = {};
  return status;
}

int64_t ConstructTree::settle(const std::vector<bool>& wanted) {
  enum : uint8_t { unseen, open, done };
  std::vector<uint8_t> state(parents_.size(), unseen);
  nearest_.assign(parents_.size(), kNone);
  top_.assign(parents_.size(), kNone);
  std::vector<uint32_t> chain;  // from a key upwards
  int64_t lost = 0;
  const auto is_known = [&](uint32_t key) { return key < known_.size() && known_[key]; };
  const auto is_wanted = [&](uint32_t key) { return key < wanted.size() && wanted[key]; };
  for (const uint32_t key : order_) {
    uint32_t above = key;
    for (; is_known(above) && state[above] == unseen; above = parents_[above]) {
      state[above] = open;
      chain.push_back(above);
    }
    if (is_known(above) && state[above] == open) {
      // A cycle: those on it have no parent, those below it have.
      for (uint32_t id = kNone; id != above; chain.pop_back()) {
        id = chain.back();
        state[id] = done;
        top_[id] = id;
        ++lost;
      }
    } else if (above != kNone && !is_known(above) && !is_wanted(above)) {
      ++lost;
      above = kNone;
    }
    uint32_t nearest = above == kNone     ? kNone
                       : is_wanted(above) ? above
                       : is_known(above)  ? nearest_[above]
                                          : kNone;
    uint32_t top = above != kNone && is_known(above) ? top_[above] : above;
    for (; !chain.empty(); chain.pop_back()) {
      const uint32_t id = chain.back();
      state[id] = done;
      nearest_[id] = nearest;
      if (top == kNone) top = id;
      top_[id] = top;
      if (is_wanted(id)) nearest = id;
    }
  }
  return lost;
}

Status StackTable::read(JsonLexer& lexer, const TextTable& keys) {
  JsonTape tape;
  std::string text;
  by_key_.assign(keys.size(), kNone);
  const auto keep = [&](std::string_view key) {
    if (const uint32_t id = keys.find(key); id != kNone && id < by_key_.size())
      by_key_[id] = texts_.add(text);
  };
  const Status status = for_each_member(lexer, tape, [&](std::string_view name) {
    if (!tape.is(0, JsonKind::array)) return true;
    const uint32_t first = 1, second = tape.at(0).count == 2 ? tape.at(first).next : kNone;
    if (second == kNone || !tape.is(first, JsonKind::array) || !tape.is(second, JsonKind::array)) {
      if (join_frames(tape, 0, text)) keep(name);
      return true;
    }
    if (!join_frames(tape, second, text)) return true;
    for (uint32_t i = first + 1; i != tape.at(first).next; i = tape.at(i).next)
      if (tape.is(i, JsonKind::text)) keep(tape.text(i));
    return true;
  });
  if (!status.ok()) by_key_.clear();
  return status;
}

std::string_view StackTable::stack(uint32_t key) const {
  return key < by_key_.size() && by_key_[key] != kNone ? texts_.text(by_key_[key]) : std::string_view();
}

std::vector<uint32_t> guess_parents(std::span<const DumpKey> entries) {
  std::vector<uint32_t> parents(entries.size(), kNone);
  std::unordered_map<std::string_view, uint32_t>
      later[3];  // module path to its nearest later entry, by phase
  uint32_t next_module[3] = {kNone, kNone, kNone};
  for (size_t i = entries.size(); i-- > 0;) {
    const DumpKey& key = entries[i];
    const auto phase = static_cast<size_t>(key.phase);
    if (key.form == KeyForm::module) {
      std::string_view path = key.path;
      for (size_t dot = path.rfind('.'); dot != std::string_view::npos; dot = path.rfind('.')) {
        path = path.substr(0, dot);
        const auto found = later[phase].find(path);
        if (found != later[phase].end()) parents[i] = std::min(parents[i], found->second);
      }
      later[phase][key.path] = static_cast<uint32_t>(i);
      next_module[phase] = static_cast<uint32_t>(i);
    } else if (key.form == KeyForm::api) {
      parents[i] = next_module[phase];
    }
  }
  return parents;
}

}  // namespace ulpscope
