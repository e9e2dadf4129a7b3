#include "guide/python_string.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace ulpscope {
namespace {

constexpr int kMostNested = 150;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct Prefix {
  bool is_raw = false, is_formatted = false;
};

// The letters before the quote at `at`, where they are a prefix and not the end of a name.
Prefix prefix_of(std::string_view text, size_t at) {
  size_t begin = at;
  while (begin > 0 && is_name(text[begin - 1]) && at - begin < 3) --begin;
  Prefix prefix;
  if (at - begin > 2) return prefix;
  for (const char c : text.substr(begin, at - begin)) {
    const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (letter == 'r')
      prefix.is_raw = true;
    else if (letter == 'f' || letter == 't')
      prefix.is_formatted = true;
    else if (letter != 'b' && letter != 'u')
      return {};
  }
  return prefix;
}

class StringReader {
 public:
  StringReader(std::string_view text, size_t at) : text_(text), at_(at) {}

  PythonStringEnd run() {
    string(0);
    return {std::min(at_, text_.size()), lines_};
  }

 private:
  bool ended() const { return at_ >= text_.size(); }

  void pass() {
    if (text_[at_] == '\n') ++lines_;
    ++at_;
  }

  // A backslash and what it takes: one character, or a line end. {…} of \N{…} is a name.
  void escape(const Prefix& prefix) {
    ++at_;
    if (ended()) return;
    if (text_.substr(at_).starts_with("\r\n")) ++at_;
    const bool opens_field = prefix.is_formatted && (text_[at_] == '{' || text_[at_] == '}');
    if (opens_field) return;
    const bool is_character_name =
        prefix.is_formatted && !prefix.is_raw && text_.substr(at_).starts_with("N{");
    pass();
    if (is_character_name) at_ = std::min(text_.find_first_of("}\n", at_), text_.size());
    if (is_character_name && !ended() && text_[at_] == '}') ++at_;
  }

  // at_ is at the first quote.
  void string(int nested) {
    const Prefix prefix = prefix_of(text_, at_);
    const char quote = text_[at_];
    const bool triple = text_.substr(at_).starts_with(std::string(3, quote));
    const std::string close(triple ? 3 : 1, quote);
    at_ += close.size();
    while (!ended()) {
      const char c = text_[at_];
      if (c == '\\') {
        escape(prefix);
      } else if (c == '\n' && !triple) {
        return;  // an unclosed string ends with its line
      } else if (text_.substr(at_).starts_with(close)) {
        at_ += close.size();
        return;
      } else if (c == '{' && prefix.is_formatted && nested < kMostNested) {
        if (text_.substr(at_).starts_with("{{"))
          at_ += 2;
        else
          field(prefix, close, nested + 1);
      } else {
        pass();
      }
    }
  }

  // Past a replacement field; at_ is at its brace.
  void field(const Prefix& prefix, const std::string& close, int nested) {
    ++at_;
    size_t depth = 0;
    while (!ended()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        string(nested);
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '(' || c == '[' || c == '{') {
        ++depth;
        ++at_;
      } else if ((c == ')' || c == ']' || c == '}') && depth > 0) {
        --depth;
        ++at_;
      } else if (c == '}') {
        ++at_;
        return;
      } else if (c == ':' && depth == 0) {
        ++at_;
        return format(prefix, close, nested);
      } else {
        pass();
      }
    }
  }

  // Past the format of a field and its closing brace. The string's own quotes end it, which is an error of
  // the source.
  void format(const Prefix& prefix, const std::string& close, int nested) {
    while (!ended()) {
      const char c = text_[at_];
      if (c == '}') {
        ++at_;
        return;
      }
      if (text_.substr(at_).starts_with(close) || (c == '\n' && close.size() == 1)) return;
      if (c == '{' && nested < kMostNested)
        field(prefix, close, nested + 1);
      else if (c == '\\')
        escape(prefix);
      else
        pass();
    }
  }

  std::string_view text_;
  size_t at_, lines_ = 0;
};

}  // namespace

PythonStringEnd end_of_python_string(std::string_view text, size_t at) {
  return StringReader(text, at).run();
}

}  // namespace ulpscope
