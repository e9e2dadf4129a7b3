#include "outputs/python_repr.hpp"

#include <charconv>
#include <cstdint>

#include "base/text.hpp"
#include "formats/json_lexer.hpp"

namespace ulpscope {
namespace {

constexpr int kMaxDepth = 60;  // below that of JsonTape

// value = call | list | tuple | dict | text | number | word
// call  = name '(' [ name '=' ] value … ')'
class Converter {
 public:
  explicit Converter(std::string_view text) : text_(text) {}

  Result<std::string> run() {
    if (!value(0)) return Error{Code::format, "byte " + std::to_string(at_) + ": " + why_};
    return std::move(out_);
  }

 private:
  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  bool fail(const char* why) {
    if (why_.empty()) why_ = why;
    return false;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t')) ++at_;
  }

  bool value(int depth) {
    if (depth > kMaxDepth) return fail("nested too deeply");
    skip_space();
    const char c = peek();
    if (c == '[' || c == '(') return list(c == '[' ? ']' : ')', depth);
    if (c == '{') return braces(depth);
    if (c == '<') return angle();
    if (const size_t prefix = text_prefix(); prefix != std::string_view::npos) return texts(prefix);
    return word(depth);
  }

  // The length of the letters in front of a quote ("b", "rb", none); npos when no text begins here.
  size_t text_prefix() const {
    size_t i = at_;
    while (i < text_.size() && i < at_ + 2 &&
           std::string_view("bBrRuUfF").find(text_[i]) != std::string_view::npos)
      ++i;
    const bool quote = i < text_.size() && (text_[i] == '\'' || text_[i] == '"');
    return quote ? i - at_ : std::string_view::npos;
  }

  bool list(char close, int depth) {
    ++at_;
    out_ += '[';
    for (bool first = true;; first = false) {
      skip_space();
      if (at_ >= text_.size()) return fail("the text ends inside a list");
      if (peek() == close) break;
      if (!first) out_ += ", ";
      if (!value(depth + 1)) return false;
      if (!separator(close)) return false;
    }
    ++at_;
    out_ += ']';
    return true;
  }

  // Passes a comma, if one is there; false when neither it nor close follows.
  bool separator(char close) {
    skip_space();
    if (peek() == ',') {
      ++at_;
      return true;
    }
    return peek() == close || fail("expected ',' or the closing bracket");
  }

  // A dictionary, or a set when its first element has no ':'.
  bool braces(int depth) {
    const size_t begin = out_.size();
    ++at_;
    out_ += '{';
    bool is_set = false;
    for (bool first = true;; first = false) {
      skip_space();
      if (at_ >= text_.size()) return fail("the text ends inside a dictionary");
      if (peek() == '}') break;
      if (!first) out_ += ", ";
      const size_t key = out_.size();
      if (!value(depth + 1)) return false;
      skip_space();
      if (first) is_set = peek() != ':';
      if (!is_set) {
        if (peek() != ':') return fail("expected ':'");
        ++at_;
        name_member(key);
        out_ += ": ";
        if (!value(depth + 1)) return false;
      }
      if (!separator('}')) return false;
    }
    ++at_;
    if (is_set) out_[begin] = '[';
    out_ += is_set ? ']' : '}';
    return true;
  }

  // Makes the value from begin on a member name. A container gets a name of no meaning: quoted as it is, each
  // level of names inside names would double it.
  void name_member(size_t begin) {
    if (out_[begin] == '"') return;
    const bool is_container = out_[begin] == '{' || out_[begin] == '[';
    const std::string name = is_container ? "(…)" : out_.substr(begin);
    out_.resize(begin);
    append_json_text(out_, name);
  }

  // <Something at 0x7f…>
  bool angle() {
    const size_t begin = at_;
    int64_t depth = 0;
    for (; at_ < text_.size(); ++at_) {
      if (peek() == '<') ++depth;
      if (peek() == '>' && --depth == 0) {
        ++at_;
        append_json_text(out_, valid_utf8(text_.substr(begin, at_ - begin)));
        return true;
      }
    }
    return fail("expected '>'");
  }

  // Texts one after the other are one text.
  bool texts(size_t prefix) {
    std::string content;
    while (prefix != std::string_view::npos) {
      if (!one_text(prefix, content)) return false;
      skip_space();
      prefix = text_prefix();
    }
    append_json_text(out_, valid_utf8(content));
    return true;
  }

  bool one_text(size_t prefix, std::string& content) {
    at_ += prefix;
    const char quote = peek();
    for (++at_; at_ < text_.size(); ++at_) {
      if (peek() == quote) {
        ++at_;
        return true;
      }
      if (peek() == '\\') {
        if (!escape(content)) return false;
      } else {
        content += peek();
      }
    }
    return fail("the text ends inside a quoted text");
  }

  // At a backslash; leaves the cursor on the last character of the escape.
  bool escape(std::string& content) {
    if (++at_ >= text_.size()) return fail("the text ends inside a quoted text");
    const char c = peek();
    constexpr std::string_view kFrom = "\\'\"abfnrtv", kTo = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t found = kFrom.find(c); found != std::string_view::npos) {
      content += kTo[found];
      return true;
    }
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      content += '\\';
      content += c;
      return true;
    }
    uint32_t code = 0;
    const std::string_view hex = text_.substr(at_ + 1, digits);
    const auto [end, status] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    if (status != std::errc() || hex.size() != digits || end != hex.data() + digits)
      return fail("expected the digits of an escape");
    append_code(content, code);
    at_ += digits;
    return true;
  }

  static void append_code(std::string& out, uint32_t code) {
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3f));
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
      put(0x80 | (code >> 6 & 0x3f));
    }
    put(0x80 | (code & 0x3f));
  }

  // A name with its call, a number, or anything up to the next separator.
  bool word(int depth) {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (is_letter(peek()) || is_digit(peek()) || peek() == '.' || peek() == '-' || peek() == '+'))
      ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (peek() == '(' && !name.empty()) return call(name, depth);
    if (is_json_end(name)) return literal(name);
    while (at_ < text_.size() && std::string_view(",)]}:=([{\n").find(peek()) == std::string_view::npos)
      ++at_;
    std::string_view rest = text_.substr(begin, at_ - begin);
    while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
    if (rest.empty()) return fail("expected a value");
    append_json_text(out_, valid_utf8(rest));
    return true;
  }

  // Whether the word is followed by what may follow a value.
  bool is_json_end(std::string_view name) {
    if (name.empty()) return false;
    size_t i = at_;
    while (i < text_.size() && (text_[i] == ' ' || text_[i] == '\n')) ++i;
    return i >= text_.size() || std::string_view(",)]}:").find(text_[i]) != std::string_view::npos;
  }

  bool literal(std::string_view name) {
    if (name == "None") return put("null");
    if (name == "True") return put("true");
    if (name == "False") return put("false");
    if (name == "nan") return put("NaN");
    if (name == "inf") return put("Infinity");
    if (name == "-inf") return put("-Infinity");
    if (const auto integer = parse_int(name)) return put(std::to_string(*integer));
    const bool numeric = is_digit(name.back()) || name.back() == '.';
    if (const auto real = numeric ? parse_double(name) : std::nullopt) return put(number_text(*real));
    append_json_text(out_, valid_utf8(name));
    return true;
  }
  bool put(std::string_view text) {
    out_ += text;
    return true;
  }

  bool call(std::string_view name, int depth) {
    const size_t begin = out_.size();
    const bool is_array = name == "array" || name.ends_with(".array") || name == "tensor" ||
                          name == "deque" || name == "set" || name == "frozenset";
    std::string list_of_array;
    ++at_;
    out_ += '{';
    int64_t unnamed = 0;
    for (bool first = true;; first = false) {
      skip_space();
      if (at_ >= text_.size()) return fail("the text ends inside a call");
      if (peek() == ')') break;
      if (!first) out_ += ", ";
      append_json_text(out_, valid_utf8(argument_name(unnamed)));
      out_ += ": ";
      const size_t held = out_.size();
      if (!value(depth + 1)) return false;
      if (is_array && list_of_array.empty() && out_[held] == '[') list_of_array = out_.substr(held);
      if (!separator(')')) return false;
    }
    ++at_;
    out_ += '}';
    if (list_of_array.empty()) return true;
    out_.resize(begin);
    out_ += list_of_array;
    return true;
  }

  // "name" of name=…, passed; else the number of the argument.
  std::string argument_name(int64_t& unnamed) {
    size_t i = at_;
    while (i < text_.size() && (is_letter(text_[i]) || (i > at_ && is_digit(text_[i])))) ++i;
    if (i == at_ || i >= text_.size() || text_[i] != '=') return std::to_string(unnamed++);
    std::string name(text_.substr(at_, i - at_));
    at_ = i + 1;
    return name;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string out_, why_;
};

}  // namespace

Result<std::string> json_of_repr(std::string_view repr) { return Converter(repr).run(); }

}  // namespace ulpscope
