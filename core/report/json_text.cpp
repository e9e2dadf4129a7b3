#include "report/json_text.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace ulpscope {
namespace {

// Bytes that a JSON string can hold as they are.
constexpr std::array<bool, 256> plain_bytes() {
  std::array<bool, 256> plain = {};
  for (size_t byte = 0x20; byte < 0x7F; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}
constexpr std::array<bool, 256> kPlain = plain_bytes();

size_t plain_length(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && kPlain[static_cast<unsigned char>(text[length])]) ++length;
  return length;
}

// The code point that valid UTF-8 of more than one byte begins with.
uint32_t code_point(std::string_view utf8) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(utf8[i]); };
  if (byte(0) < 0xE0) return (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
  if (byte(0) < 0xF0) return (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
  return 0x10000;  // none of those above is hidden
}

// JSON may hold these as they are, but a terminal that shows it acts on them: the controls behind U+007F, and
// what turns the direction of writing.
bool is_hidden(uint32_t code) {
  return code <= 0x9F || code == 0x61C || code == 0x200E || code == 0x200F ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

// Appends valid UTF-8 with what is hidden as \uXXXX, which means the same where text stands in JSON.
void append_visible(std::string& out, std::string_view utf8) {
  for (size_t i = 0; i < utf8.size();) {
    const auto first = static_cast<unsigned char>(utf8[i]);
    const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    const uint32_t code = first == 0x7F ? first : length > 1 ? code_point(utf8.substr(i)) : 0x10000;
    if (is_hidden(code))
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
    else
      out += utf8.substr(i, length);
    i += length;
  }
}

// The bytes up to the next that a JSON string cannot hold; answers how many.
size_t append_run(std::string& out, std::string_view utf8) {
  size_t end = 1;
  while (end < utf8.size() && static_cast<unsigned char>(utf8[end]) >= 0x20 && utf8[end] != '"' &&
         utf8[end] != '\\')
    ++end;
  append_visible(out, utf8.substr(0, end));
  return end;
}

void append_escaped(std::string& out, std::string_view utf8) {
  for (size_t i = 0; i < utf8.size(); ++i) {
    const char c = utf8[i];
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        else
          i += append_run(out, utf8.substr(i)) - 1;
    }
  }
}

size_t digits(std::string_view text, size_t from) {
  size_t count = 0;
  while (from + count < text.size() && text[from + count] >= '0' && text[from + count] <= '9') ++count;
  return count;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  const size_t plain = plain_length(text);
  out.append(text.substr(0, plain));
  if (plain < text.size()) append_escaped(out, valid_utf8(text.substr(plain)));
  out += '"';
}

void append_finite(std::string& out, double value) {
  // Most metrics are counts and zeros, for which the search for the shortest text is not needed
  constexpr double kCounts = 1e15;
  std::array<char, 32> text;
  if (value == 0 && std::signbit(value)) {
    out += "-0.0";  // "-0" would read back as the integer 0
    return;
  }
  if (value >= 0 && value < kCounts) {
    const auto whole = static_cast<int64_t>(value);
    if (static_cast<double>(whole) == value) {
      out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), whole).ptr);
      return;
    }
  }
  out.append(text.data(), fmt::format_to(text.data(), FMT_COMPILE("{}"), value));
}

void append_json_number(std::string& out, double value) {
  if (std::isfinite(value)) return append_finite(out, value);
  out += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
}

void append_json_number(std::string& out, int64_t value) {
  std::array<char, 24> text;
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

bool is_json_number(std::string_view text) {
  size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  const size_t whole = digits(text, at);
  if (whole == 0 || (whole > 1 && text[at] == '0')) return false;
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const size_t fraction = digits(text, at + 1);
    if (fraction == 0) return false;
    at += 1 + fraction;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const bool sign = at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-');
    const size_t exponent = digits(text, at + 1 + sign);
    if (exponent == 0) return false;
    at += 1 + sign + exponent;
  }
  return at == text.size();
}

void append_json_number_or_string(std::string& out, std::string_view text) {
  if (is_json_number(text))
    out += text;
  else
    append_json_string(out, text);
}

void append_json_value(std::string& out, std::string_view text) {
  if (text.empty() || text == "null") {
    out += "null";
  } else if (text == "true" || text == "false" || is_json_number(text)) {
    out += text;
  } else if ((text[0] == '"' || text[0] == '[' || text[0] == '{') && nlohmann::json::accept(text)) {
    append_visible(out, text);  // the parser is iterative, so nesting is no risk here
  } else {
    append_json_string(out, text);
  }
}

void append_json_shape(std::string& out, std::span<const int64_t> shape) {
  out += '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) out += ',';
    append_json_number(out, shape[i]);
  }
  out += ']';
}

}  // namespace ulpscope
