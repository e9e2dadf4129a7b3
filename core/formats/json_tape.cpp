#include "formats/json_tape.hpp"

#include "formats/json_members.hpp"

namespace ulpscope {
namespace {

// Keeps nothing.
struct Nobody {
  static constexpr bool kKeepsTexts = false;
  bool has_room() const { return true; }
  void open(std::string_view, bool) {}
  void close() {}
  void value(std::string_view, JsonToken, std::string_view) {}
};

}  // namespace

// Puts members on the tape.
struct JsonTape::Members {
  static constexpr bool kKeepsTexts = true;
  JsonTape& tape;

  bool has_room() const {
    return tape.open_.size() < kMaxDepth && tape.nodes_.size() < kMaxNodes &&
           tape.text_.size() <= kMaxTextBytes;
  }
  void open(std::string_view key, bool is_object) {
    tape.keep_key(key);
    tape.add(is_object ? JsonKind::object : JsonKind::array);
    tape.open_.push_back(static_cast<uint32_t>(tape.nodes_.size() - 1));
  }
  void close() { tape.close(); }
  void value(std::string_view key, JsonToken token, std::string_view text) {
    tape.keep_key(key);
    tape.add_scalar(token, text);
  }
};

bool skip_json_value(JsonLexer& lexer, JsonToken first) {
  if (first == JsonToken::broken) return false;
  if (first != JsonToken::begin_object && first != JsonToken::begin_array) return true;
  const size_t outside = lexer.depth() - 1;
  while (true) {
    Nobody nobody;
    lexer.visit_plain_members(outside, nobody);
    if (lexer.depth() <= outside) return true;
    if (lexer.next() == JsonToken::broken) return false;
  }
}

JsonRead JsonTape::read(JsonLexer& lexer) { return read(lexer, lexer.next()); }

JsonRead JsonTape::read(JsonLexer& lexer, JsonToken first) {
  nodes_.clear();
  text_.clear();
  open_.clear();
  key_size_ = 0;
  const auto opens = [](JsonToken token) {
    return token == JsonToken::begin_object || token == JsonToken::begin_array;
  };
  const size_t outside = lexer.depth() - (opens(first) ? 1 : 0);
  JsonToken token = first;
  while (true) {
    if (token == JsonToken::broken) return JsonRead::broken;
    const bool too_deep = opens(token) && open_.size() >= kMaxDepth;
    if (too_deep || nodes_.size() >= kMaxNodes || text_.size() > kMaxTextBytes) {
      nodes_.clear();
      while (lexer.depth() > outside)
        if (lexer.next() == JsonToken::broken) return JsonRead::broken;
      return too_deep ? JsonRead::too_deep : JsonRead::too_large;
    }
    if (take(lexer, token)) return JsonRead::ok;
    Members members{*this};
    lexer.visit_plain_members(outside, members);
    if (open_.empty()) return JsonRead::ok;
    token = lexer.next();
  }
}

uint32_t JsonTape::keep_text(std::string_view text) {
  const auto begin = static_cast<uint32_t>(text_.size());
  text_ += text;
  return begin;
}

void JsonTape::keep_key(std::string_view key) {
  key_size_ = static_cast<uint32_t>(key.size());
  key_begin_ = keep_text(key);
}

// Adds a node to the container that is open.
JsonNode& JsonTape::add(JsonKind kind) {
  JsonNode& node = nodes_.emplace_back();
  node.kind = kind;
  node.next = static_cast<uint32_t>(nodes_.size());
  if (open_.empty()) return node;
  JsonNode& parent = nodes_[open_.back()];
  ++parent.count;
  if (parent.kind == JsonKind::object) {
    node.key_begin = key_begin_;
    node.key_size = key_size_;
  }
  return node;
}

void JsonTape::add_scalar(JsonToken token, std::string_view text) {
  switch (token) {
    case JsonToken::true_value:
      add(JsonKind::boolean).truth = true;
      return;
    case JsonToken::false_value:
      add(JsonKind::boolean);
      return;
    case JsonToken::number:
    case JsonToken::text: {
      JsonNode& node = add(token == JsonToken::number ? JsonKind::number : JsonKind::text);
      node.text_size = static_cast<uint32_t>(text.size());
      node.text_begin = keep_text(text);
      return;
    }
    default:
      add(JsonKind::null);
  }
}

void JsonTape::close() {
  nodes_[open_.back()].next = static_cast<uint32_t>(nodes_.size());
  open_.pop_back();
}

// Adds a token; true when the value is complete.
bool JsonTape::take(JsonLexer& lexer, JsonToken token) {
  switch (token) {
    case JsonToken::key:
      keep_key(lexer.text());
      return false;
    case JsonToken::end_object:
    case JsonToken::end_array:
      close();
      break;
    case JsonToken::begin_object:
    case JsonToken::begin_array:
      add(token == JsonToken::begin_object ? JsonKind::object : JsonKind::array);
      open_.push_back(static_cast<uint32_t>(nodes_.size() - 1));
      break;
    default:
      add_scalar(token, lexer.text());
  }
  return open_.empty();
}

uint32_t JsonTape::find(uint32_t object, std::string_view name) const {
  uint32_t found = kNone;
  if (object == kNone || nodes_[object].kind != JsonKind::object) return found;
  for (uint32_t i = object + 1; i != nodes_[object].next; i = nodes_[i].next)
    if (key(i) == name) found = i;
  return found;
}

namespace {

// Depth is limited by that of the tape.
void append_value(std::string& out, const JsonTape& tape, uint32_t node) {
  switch (tape.at(node).kind) {
    case JsonKind::null:
      out += "null";
      return;
    case JsonKind::boolean:
      out += tape.at(node).truth ? "true" : "false";
      return;
    case JsonKind::number:
      out += tape.text(node);
      return;
    case JsonKind::text:
      append_json_text(out, tape.text(node));
      return;
    default:
      break;
  }
  const bool is_object = tape.at(node).kind == JsonKind::object;
  out += is_object ? '{' : '[';
  for (uint32_t i = node + 1; i != tape.at(node).next; i = tape.at(i).next) {
    if (i != node + 1) out += ',';
    if (is_object) {
      append_json_text(out, tape.key(i));
      out += ':';
    }
    append_value(out, tape, i);
  }
  out += is_object ? '}' : ']';
}

}  // namespace

std::string json_text_of(const JsonTape& tape, uint32_t node) {
  std::string out;
  append_value(out, tape, node);
  return out;
}

}  // namespace ulpscope
