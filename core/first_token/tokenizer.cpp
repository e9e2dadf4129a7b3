#include "first_token/tokenizer.hpp"

#include <array>
#include <charconv>

#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/json_lexer.hpp"
#include "formats/json_tape.hpp"
#include "outputs/code_points.hpp"

namespace ulpscope {
namespace {

// Byte-level vocabularies write the bytes that are no printable Latin-1 character as U+0100 and on, in the
// order of the bytes.
bool is_own_character(int byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
}

// Of U+0100 and on; -1 where there is none.
std::array<int, 68> shifted_bytes() {
  std::array<int, 68> bytes{};
  size_t count = 0;
  for (int byte = 0; byte < 256; ++byte)
    if (!is_own_character(byte)) bytes[count++] = byte;
  return bytes;
}

std::string undo_byte_level(const std::string& spelling) {
  static const std::array<int, 68> shifted = shifted_bytes();
  std::string bytes;
  for (const char32_t c : code_points(spelling)) {
    if (c < 0x100 && is_own_character(static_cast<int>(c)))
      bytes += static_cast<char>(c);
    else if (c >= 0x100 && c < 0x100 + shifted.size())
      bytes += static_cast<char>(shifted[c - 0x100]);
    else
      bytes += utf8_of(std::u32string(1, c));
  }
  return valid_utf8(bytes);
}

// "▁the" and "<0xE5>".
std::string undo_pieces(const std::string& spelling) {
  constexpr std::string_view kBlank = "\xe2\x96\x81";
  unsigned byte = 0;
  if (spelling.size() == 6 && spelling.starts_with("<0x") && spelling.ends_with(">") &&
      std::from_chars(spelling.data() + 3, spelling.data() + 5, byte, 16).ptr == spelling.data() + 5)
    return valid_utf8(std::string(1, static_cast<char>(byte)));
  std::string text = spelling;
  for (size_t at = text.find(kBlank); at != std::string::npos; at = text.find(kBlank, at + 1))
    text.replace(at, kBlank.size(), " ");
  return text;
}

using Spellings = std::unordered_map<int64_t, std::string>;

bool keep(Spellings& spellings, int64_t id, std::string_view text) {
  if (spellings.size() >= Tokenizer::kMostTokens) return false;
  spellings.emplace(id, text);
  return true;
}

// {"text": 12, …}
bool read_vocabulary(JsonLexer& lexer, Spellings& spellings) {
  while (true) {
    const JsonToken token = lexer.next();
    if (token == JsonToken::end_object) return true;
    if (token != JsonToken::key) return false;
    const std::string text(lexer.text());
    const JsonToken value = lexer.next();
    const auto id = value == JsonToken::number ? json_int(lexer.text()) : std::nullopt;
    if (id ? !keep(spellings, *id, text) : !skip_json_value(lexer, value)) return false;
  }
}

// [["text", -1.5], …]: the number is the place.
bool read_pieces(JsonLexer& lexer, Spellings& spellings) {
  JsonTape tape;
  for (int64_t id = 0;; ++id) {
    const JsonToken token = lexer.next();
    if (token == JsonToken::end_array) return true;
    if (tape.read(lexer, token) != JsonRead::ok) return false;
    if (!tape.is(0, JsonKind::array) || tape.at(0).count == 0 || !tape.is(1, JsonKind::text)) continue;
    if (!keep(spellings, id, tape.text(1))) return false;
  }
}

// [{"id": 151645, "content": "<|im_end|>"}, …]
bool read_added(JsonLexer& lexer, Spellings& added) {
  JsonTape tape;
  while (true) {
    const JsonToken token = lexer.next();
    if (token == JsonToken::end_array) return true;
    if (tape.read(lexer, token) != JsonRead::ok) return false;
    const uint32_t number = tape.find(0, "id"), content = tape.find(0, "content");
    const auto id = tape.is(number, JsonKind::number) ? json_int(tape.text(number)) : std::nullopt;
    if (id && tape.is(content, JsonKind::text) && !keep(added, *id, tape.text(content))) return false;
  }
}

bool read_model(JsonLexer& lexer, Spellings& spellings) {
  while (true) {
    const JsonToken token = lexer.next();
    if (token == JsonToken::end_object) return true;
    if (token != JsonToken::key) return false;
    const bool is_vocabulary = lexer.text() == "vocab";
    const JsonToken value = lexer.next();
    if (is_vocabulary && value == JsonToken::begin_object) {
      if (!read_vocabulary(lexer, spellings)) return false;
    } else if (is_vocabulary && value == JsonToken::begin_array) {
      if (!read_pieces(lexer, spellings)) return false;
    } else if (!skip_json_value(lexer, value)) {
      return false;
    }
  }
}

}  // namespace

Result<Tokenizer> Tokenizer::read(const std::string& path) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  JsonLexer lexer(file);
  Tokenizer tokenizer;
  bool well = lexer.next() == JsonToken::begin_object;
  while (well) {
    const JsonToken token = lexer.next();
    if (token == JsonToken::end_object) break;
    well = token == JsonToken::key;
    if (!well) break;
    const std::string name(lexer.text());
    const JsonToken value = lexer.next();
    if (name == "model" && value == JsonToken::begin_object)
      well = read_model(lexer, tokenizer.spellings_);
    else if (name == "added_tokens" && value == JsonToken::begin_array)
      well = read_added(lexer, tokenizer.added_);
    else
      well = skip_json_value(lexer, value);
  }
  if (!well)
    return Error{Code::format, printable(path) + ": byte " + std::to_string(lexer.offset()) +
                                   ": expected a tokenizer.json with model.vocab"};
  if (tokenizer.spellings_.empty())
    return Error{Code::format, printable(path) + ": no vocabulary, expected model.vocab"};
  // "Ġ" is the blank of byte-level vocabularies.
  for (const auto& [id, spelling] : tokenizer.spellings_)
    tokenizer.byte_level_ |= spelling.starts_with("\xc4\xa0");
  return tokenizer;
}

std::string Tokenizer::text(int64_t id) const {
  if (const auto added = added_.find(id); added != added_.end()) return added->second;
  const auto spelling = spellings_.find(id);
  if (spelling == spellings_.end()) return {};
  return byte_level_ ? undo_byte_level(spelling->second) : undo_pieces(spelling->second);
}

}  // namespace ulpscope
