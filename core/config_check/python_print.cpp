#include "config_check/python_print.hpp"

#include <cctype>

#include "base/text.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

constexpr int kMostDepth = 64;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | ((code >> 18) & 0x07));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  size_t position() const { return at_; }

  ConfigValue fields(char close, int depth) {
    ConfigValue object;
    object.kind = ConfigKind::object;
    int64_t nameless = 0;
    while (skip_space(), at_ < text_.size()) {
      if (text_[at_] == close) {
        ++at_;
        break;
      }
      if (text_.substr(at_).starts_with("...")) break;
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      const size_t before = at_;
      std::string name = field_name();
      ConfigValue value = this->value(depth);
      if (name.empty()) name = std::to_string(nameless++);
      object.members.emplace_back(std::move(name), std::move(value));
      if (at_ == before) ++at_;  // a byte that begins nothing
    }
    return object;
  }

  ConfigValue value(int depth) {
    skip_space();
    if (at_ >= text_.size()) return {};
    const char c = text_[at_];
    if (depth > kMostDepth) return raw();
    if (c == '[' || c == '(') return list(c == '[' ? ']' : ')', depth);
    if (c == '{') return dict(depth);
    if (const size_t quote = quote_at(); quote != std::string_view::npos) return quoted(quote);
    return bare(depth);
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  // "name=" before a value; empty when there is none.
  std::string field_name() {
    size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    if (end == at_ || end >= text_.size() || text_[end] != '=') return {};
    std::string name(text_.substr(at_, end - at_));
    at_ = end + 1;
    return name;
  }

  // The quote of a text that begins here, past a prefix such as b or r.
  size_t quote_at() const {
    for (size_t i = at_; i < text_.size() && i < at_ + 3; ++i) {
      if (text_[i] == '\'' || text_[i] == '"') return i;
      if (std::isalpha(static_cast<unsigned char>(text_[i])) == 0) break;
    }
    return std::string_view::npos;
  }

  ConfigValue quoted(size_t quote) {
    const char mark = text_[quote];
    std::string out;
    at_ = quote + 1;
    while (at_ < text_.size() && text_[at_] != mark) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size())
        escape(out);
      else
        out += text_[at_++];
    }
    if (at_ < text_.size()) ++at_;
    return ConfigValue::of_text(std::move(out));
  }

  void escape(std::string& out) {
    const char c = text_[at_ + 1];
    at_ += 2;
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits > 0 && at_ + digits <= text_.size()) {
      uint32_t code = 0;
      for (size_t i = 0; i < digits; ++i) {
        const char d = text_[at_ + i];
        if (std::isxdigit(static_cast<unsigned char>(d)) == 0) return;
        code = code * 16 + static_cast<uint32_t>(d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10);
      }
      at_ += digits;
      append_utf8(out, code <= 0x10FFFF ? code : 0xFFFD);
      return;
    }
    constexpr std::string_view kFrom = "ntr0", kTo("\n\t\r\0", 4);
    const size_t known = kFrom.find(c);
    out += known == std::string_view::npos ? c : kTo[known];
  }

  ConfigValue list(char close, int depth) {
    ConfigValue value;
    value.kind = ConfigKind::list;
    ++at_;
    while (skip_space(), at_ < text_.size()) {
      if (text_[at_] == close) {
        ++at_;
        break;
      }
      if (text_.substr(at_).starts_with("...")) break;
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      const size_t before = at_;
      value.items.push_back(this->value(depth + 1));
      if (at_ == before) ++at_;
    }
    return value;
  }

  ConfigValue dict(int depth) {
    ConfigValue object;
    object.kind = ConfigKind::object;
    ++at_;
    while (skip_space(), at_ < text_.size()) {
      if (text_[at_] == '}') {
        ++at_;
        break;
      }
      if (text_.substr(at_).starts_with("...")) break;
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      const size_t before = at_;
      const ConfigValue key = this->value(depth + 1);
      skip_space();
      if (at_ < text_.size() && text_[at_] == ':') {
        ++at_;
        object.members.emplace_back(key.is_text() ? key.text : config_json(key), this->value(depth + 1));
      }
      if (at_ == before) ++at_;
    }
    return object;
  }

  // A word up to a comma, colon or bracket; with "(" behind it a call, with "<" an object's default print.
  ConfigValue bare(int depth) {
    if (text_[at_] == '<') return raw();
    const size_t begin = at_;
    constexpr std::string_view kEnds = ",)]}([{";
    while (at_ < text_.size() && kEnds.find(text_[at_]) == std::string_view::npos &&
           !(text_[at_] == ':' && at_ + 1 < text_.size() && text_[at_ + 1] == ' '))
      ++at_;
    if (at_ < text_.size() && text_[at_] == '(' && at_ > begin) {
      ++at_;
      return fields(')', depth + 1);
    }
    std::string word(text_.substr(begin, at_ - begin));
    while (!word.empty() && std::isspace(static_cast<unsigned char>(word.back())) != 0) word.pop_back();
    return value_of_word(word);
  }

  // Text up to the comma or bracket that ends it, brackets inside balanced.
  ConfigValue raw() {
    const size_t begin = at_;
    int64_t open = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '(' || c == '[' || c == '{' || c == '<') ++open;
      if (c == ')' || c == ']' || c == '}' || c == '>') {
        if (open == 0) break;
        --open;
      }
      if (c == ',' && open == 0) break;
    }
    return ConfigValue::of_text(std::string(text_.substr(begin, at_ - begin)));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

ConfigValue parse_python_fields(std::string_view text, size_t* end) {
  Reader reader(text);
  ConfigValue value = reader.fields(')', 0);
  if (end != nullptr) *end = reader.position();
  return value;
}

ConfigValue parse_python_value(std::string_view text, size_t* end) {
  Reader reader(text);
  ConfigValue value = reader.value(0);
  if (end != nullptr) *end = reader.position();
  return value;
}

}  // namespace ulpscope
