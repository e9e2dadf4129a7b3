#include "formats/json_tape.hpp"

namespace ulpscope {

bool skip_json_value(JsonLexer& lexer, JsonToken first) {
  if (first == JsonToken::broken) return false;
  if (first != JsonToken::begin_object && first != JsonToken::begin_array) return true;
  const size_t outside = lexer.depth() - 1;
  while (true) {
    lexer.skip_plain_members(outside);
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
    token = lexer.next();
  }
}

// Adds a token; true when the value is complete.
bool JsonTape::take(JsonLexer& lexer, JsonToken token) {
  const auto keep_text = [&] {
    const std::string_view text = lexer.text();
    text_ += text;
    return static_cast<uint32_t>(text.size());
  };
  const auto text_end = static_cast<uint32_t>(text_.size());
  if (token == JsonToken::key) {
    key_begin_ = text_end;
    key_size_ = keep_text();
    return false;
  }
  const auto number = static_cast<uint32_t>(nodes_.size());
  if (token == JsonToken::end_object || token == JsonToken::end_array) {
    nodes_[open_.back()].next = number;
    open_.pop_back();
    return open_.empty();
  }
  JsonNode& node = nodes_.emplace_back();
  node.next = number + 1;
  if (!open_.empty()) {
    JsonNode& parent = nodes_[open_.back()];
    ++parent.count;
    if (parent.kind == JsonKind::object) {
      node.key_begin = key_begin_;
      node.key_size = key_size_;
    }
  }
  switch (token) {
    case JsonToken::begin_object:
      node.kind = JsonKind::object;
      break;
    case JsonToken::begin_array:
      node.kind = JsonKind::array;
      break;
    case JsonToken::true_value:
      node.truth = true;
      [[fallthrough]];
    case JsonToken::false_value:
      node.kind = JsonKind::boolean;
      break;
    case JsonToken::number:
      node.kind = JsonKind::number;
      break;
    case JsonToken::text:
      node.kind = JsonKind::text;
      break;
    default:
      break;
  }
  if (node.kind == JsonKind::number || node.kind == JsonKind::text) {
    node.text_begin = text_end;
    node.text_size = keep_text();
  }
  if (node.kind == JsonKind::object || node.kind == JsonKind::array) open_.push_back(number);
  return open_.empty();
}

uint32_t JsonTape::find(uint32_t object, std::string_view name) const {
  uint32_t found = kNone;
  if (object == kNone || nodes_[object].kind != JsonKind::object) return found;
  for (uint32_t i = object + 1; i != nodes_[object].next; i = nodes_[i].next)
    if (key(i) == name) found = i;
  return found;
}

}  // namespace ulpscope
