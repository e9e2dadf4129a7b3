#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace ulpscope {
namespace {

constexpr int64_t kMaxListedNumbers = 1'000'000;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Length of the valid UTF-8 sequence at the head of text, 0 when there is none (overlong forms and surrogates
// included).
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 && first < 0xF5   ? 4
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xC2 && first < 0xE0 ? 2
                                                        : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

// Whether a decimal number, written as from_chars takes it, is below one in magnitude: the place of its first
// digit that is not 0, seen from the point, plus the exponent. The number is not 0.
bool is_below_one(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  const size_t e = text.find('e');
  const std::string_view digits = text.substr(0, e);
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<int64_t>(digits.find_first_not_of("0."));
  const int64_t place = point > first ? point - first : point - first + 1;  // 1: the digit before the point
  if (e == std::string_view::npos) return place <= 0;
  const std::string_view exponent = text.substr(e + 1);
  // An exponent too long for 64 bits outweighs any number of digits.
  const auto power = parse_int(exponent.front() == '+' ? exponent.substr(1) : exponent);
  if (!power) return exponent.front() == '-';
  constexpr int64_t kHuge = int64_t{1} << 62;
  return place + std::clamp(*power, -kHuge, kHuge) <= 0;
}

// Whether a valid sequence is invisible and changes how a terminal or a reader sees what stands around it:
// line and paragraph separators, marks and overrides of the writing direction, zero-width characters, the
// byte order mark, tags, and the code points that are never characters (U+2028 is E2 80 A8).
bool is_format_character(std::string_view sequence) {
  uint32_t code = static_cast<unsigned char>(sequence[0]) & (0x7Fu >> sequence.size());
  if (sequence.size() == 1) return false;
  for (size_t i = 1; i < sequence.size(); ++i)
    code = (code << 6) | (static_cast<unsigned char>(sequence[i]) & 0x3Fu);
  return code == 0xAD || code == 0x61C || code == 0x180E || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
         (code >= 0xFFF9 && code <= 0xFFFB) || (code >= 0xE0000 && code <= 0xE007F) ||
         (code & 0xFFFE) == 0xFFFE;
}

}  // namespace

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "Infinity" : "-Infinity";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

std::string number_text(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return std::nullopt;
  }
  const std::string small = to_lower(text);
  double value = 0;
  const auto [end, error] = std::from_chars(small.data(), small.data() + small.size(), value);
  if (end != small.data() + small.size() || small.empty() || small.back() == ')') return std::nullopt;
  // A number beyond the range of double is not an error of the text: it rounds to infinity or zero.
  if (error == std::errc::result_out_of_range) {
    const double magnitude = is_below_one(small) ? 0.0 : std::numeric_limits<double>::infinity();
    return small.front() == '-' ? -magnitude : magnitude;
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  const auto same = [&](char a, char b) { return ignore_case ? lower(a) == lower(b) : a == b; };
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || same(pattern[p], text[t]))) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Result<std::vector<int32_t>> parse_number_list(std::string_view text) {
  std::vector<int32_t> numbers;
  const auto malformed = [&] {
    return Error{Code::usage,
                 "'" + printable(text) + "' is not a list of numbers, expected a form like 0,2-5"};
  };
  for (std::string_view part : split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > std::numeric_limits<int32_t>::max())
      return malformed();
    if (*last - *first >= kMaxListedNumbers - static_cast<int64_t>(numbers.size())) return malformed();
    for (int64_t n = *first; n <= *last; ++n) numbers.push_back(static_cast<int32_t>(n));
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const size_t length = utf8_length(text);
    // U+0080 to U+009F are control characters too: some terminals act on them.
    const bool control = first < 0x20 || first == 0x7F ||
                         (first == 0xC2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xA0);
    if (length == 0 || control) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", first);
      text.remove_prefix(1);
      continue;
    }
    if (is_format_character(text.substr(0, length))) {
      for (const char byte : text.substr(0, length))
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
      text.remove_prefix(length);
      continue;
    }
    out.append(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

bool is_utf8(std::string_view text) {
  // Nearly all of it is ASCII: eight bytes at a time.
  constexpr uint64_t kHighBits = 0x8080808080808080u;
  while (!text.empty()) {
    uint64_t word = 0;
    if (text.size() >= sizeof word) std::memcpy(&word, text.data(), sizeof word);
    if (text.size() >= sizeof word && (word & kHighBits) == 0) {
      text.remove_prefix(sizeof word);
      continue;
    }
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string valid_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      out.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return out;
}

std::string size_text(uint64_t size_bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(size_bytes);
  size_t unit = 0;
  // By what rounding will show: 999 950 bytes are 1.0 MB, not 1000 kB.
  while (value >= (unit == 0 ? 1000 : 999.5) && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 || value >= 9.95 ? fmt::format("{:.0f} {}", value, kUnits[unit])
                                    : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string count_text(int64_t count) {
  std::string digits = std::to_string(count);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<size_t>(at), 1, ' ');
  return digits;
}

}  // namespace ulpscope
