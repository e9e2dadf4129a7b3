// The tokens of a JSON text of any size, one at a time, in constant memory. Reads what Python's json writes:
// standard JSON and the bare tokens NaN, Infinity and -Infinity. Numbers are given as they are written, so
// that nothing is rounded before its user knows the type. Used by the readers of dump.json, construct.json
// and stack.json. A library's event parser would end the parse at 1e400 or half a surrogate pair, and hold a
// text of any length in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"

namespace ulpscope {

enum class JsonToken : uint8_t {
  begin_object,
  end_object,
  begin_array,
  end_array,
  key,
  text,
  number,  // also NaN, Infinity, -Infinity
  true_value,
  false_value,
  null,
  end,     // after the one value
  broken,  // error() says what and where; every later token is broken too
};

// One pass over a file or a text, both of which must outlive it. One thread at a time.
class JsonLexer {
 public:
  static constexpr size_t kBufferBytes = 128 * 1024;
  static constexpr size_t kMaxTextBytes = 16 << 20;  // of one text or member name
  static constexpr size_t kMaxNumberBytes = 8000;
  static constexpr size_t kMaxDepth = 100000;

  explicit JsonLexer(const File& file);
  explicit JsonLexer(std::string_view text);

  JsonToken next();
  // Gives whole members and elements to the visitor, and ends of containers, up to the end of the one that is
  // open at the depth outside + 1. Stops before anything that is not plain, an error or the end of the buffer
  // for one, and leaves it to next: to read a value is to call both in turn. Defined in json_members.hpp.
  //   bool has_room()              false: stop
  //   void open(key, is_object), void close(), void value(key, token, text)   key is empty in arrays
  //   static constexpr bool kKeepsTexts   false: texts need not be valid UTF-8
  template <class Visitor>
  void visit_plain_members(size_t outside, Visitor& visitor);
  // Of a key, text (both decoded, valid UTF-8) or number (as written). Valid until the next call of next.
  std::string_view text() const { return view_; }
  // The byte at which the last token begins.
  uint64_t offset() const { return token_offset_; }
  // Containers that are open after the last token.
  size_t depth() const { return open_.size(); }
  // Set once next has answered broken: "byte 1204: expected ':'". format, or io when reading failed.
  const Error& error() const { return *error_; }

 private:
  enum class State : uint8_t { value, first_value, first_key, key, colon, after_value, done };

  // Shorter tokens are always whole in the buffer.
  static constexpr size_t kLookaheadBytes = kMaxNumberBytes + 16;

  uint64_t position() const { return base_ + static_cast<uint64_t>(cursor_ - begin_); }
  bool refill();
  int skip_space();
  int peek();
  const char* plain_value_end(const char* p, JsonToken& token) const;
  JsonToken read_value(int first);
  JsonToken open(bool object);
  JsonToken close();
  JsonToken literal(std::string_view word, JsonToken token);
  JsonToken read_number();
  JsonToken read_text(JsonToken token);
  bool read_text_slowly();
  bool read_escape();
  std::optional<uint32_t> read_hex4();
  void after_value() { state_ = open_.empty() ? State::done : State::after_value; }
  JsonToken fail(uint64_t at, std::string_view what);

  const File* file_ = nullptr;
  std::unique_ptr<char[]> buffer_;
  const char *begin_ = nullptr, *cursor_ = nullptr, *end_ = nullptr;
  uint64_t base_ = 0;  // offset of *begin_ in the file
  bool more_ = false;  // whether the file goes on after end_
  State state_ = State::value;
  std::vector<char> open_;  // 1 for an object, 0 for an array
  std::string_view view_;
  std::string text_;  // a text that has escapes or does not fit the buffer
  uint64_t token_offset_ = 0;
  std::optional<Error> error_;
};

// A number token as a double, nearest. Beyond the range: an infinity of its sign, or zero.
double json_double(std::string_view number);
// A number token that is an integer within 64 bits.
std::optional<int64_t> json_int(std::string_view number);
// Appends text as a JSON text with its quotes; text must be valid UTF-8.
void append_json_text(std::string& out, std::string_view text);

}  // namespace ulpscope
