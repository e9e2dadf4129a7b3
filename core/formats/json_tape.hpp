// One JSON value as a flat list of nodes in memory that is reused from value to value. Used for the entries
// of a dump, whose meaning depends on members that may come late ("type"), and which must be whole before
// they become records.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json_lexer.hpp"

namespace ulpscope {

enum class JsonKind : uint8_t { null, boolean, number, text, array, object };

// Members and elements follow their container; next is the node after the whole value, which is the next
// sibling.
struct JsonNode {
  JsonKind kind = JsonKind::null;
  bool truth = false;  // of a boolean
  uint32_t next = 0;
  uint32_t key_begin = 0, key_size = 0;    // in an object
  uint32_t text_begin = 0, text_size = 0;  // of a text or number
  uint32_t count = 0;                      // of a container
};

// How reading a value ended. After too_deep and too_large the lexer stands behind the value and can go on.
enum class JsonRead { ok, too_deep, too_large, broken };

class JsonTape {
 public:
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr size_t kMaxDepth = 64;            // containers in one value
  static constexpr size_t kMaxNodes = 1 << 22;       // of one value
  static constexpr size_t kMaxTextBytes = 64 << 20;  // of one value

  // Reads the value that begins at the lexer's next token. Replaces what was read before.
  JsonRead read(JsonLexer& lexer);
  // Reads the value whose first token the lexer has just given.
  JsonRead read(JsonLexer& lexer, JsonToken first);

  bool empty() const { return nodes_.empty(); }
  // The root is node 0. Children of a container: for (i = node + 1; i != at(node).next; i = at(i).next).
  const JsonNode& at(uint32_t node) const { return nodes_[node]; }
  std::string_view key(uint32_t node) const {
    return {text_.data() + nodes_[node].key_begin, nodes_[node].key_size};
  }
  std::string_view text(uint32_t node) const {
    return {text_.data() + nodes_[node].text_begin, nodes_[node].text_size};
  }
  // The last member of that name; kNone when there is none or the node is no object.
  uint32_t find(uint32_t object, std::string_view name) const;
  bool is(uint32_t node, JsonKind kind) const { return node != kNone && nodes_[node].kind == kind; }

 private:
  struct Members;

  bool take(JsonLexer& lexer, JsonToken token);
  uint32_t keep_text(std::string_view text);
  void keep_key(std::string_view key);
  JsonNode& add(JsonKind kind);
  void add_scalar(JsonToken token, std::string_view text);
  void close();

  std::vector<JsonNode> nodes_;
  std::string text_;
  std::vector<uint32_t> open_;             // containers being read
  uint32_t key_begin_ = 0, key_size_ = 0;  // of the member whose value comes next
};

// A value of the tape as JSON on one line, members in their order; numbers as they were written.
std::string json_text_of(const JsonTape& tape, uint32_t node);

// Reads past the value whose first token the lexer has just given. False when the text is broken.
bool skip_json_value(JsonLexer& lexer, JsonToken first);

}  // namespace ulpscope
