// Runs of bytes in a JSON text that mean one thing: the inside of a text, white space, a number. Looked at
// eight bytes at a time. Used by the lexer only; knows no grammar beyond a number's.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ulpscope {

// Bytes that a text may hold as they are: all but '"', '\\' and control characters.
inline constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 256; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

// Eight bytes at once, the first in the lowest place; only on machines that keep them so.
inline constexpr bool kWordwise = std::endian::native == std::endian::little;
inline constexpr uint64_t kOnes = 0x0101010101010101u, kHighs = 0x8080808080808080u;

inline uint64_t load_word(const char* p) {
  uint64_t word = 0;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

// A high bit at the first byte that is zero; those behind it mean nothing.
inline uint64_t zero_bytes(uint64_t word) { return (word - kOnes) & ~word & kHighs; }

// The first byte in [p, end) that a text cannot hold as it is; end when there is none.
inline const char* skip_plain(const char* p, const char* end) {
  while (kWordwise && end - p >= 8) {
    const uint64_t word = load_word(p);
    const uint64_t control = (word - kOnes * 0x20) & ~word & kHighs;
    const uint64_t special = control | zero_bytes(word ^ (kOnes * '"')) | zero_bytes(word ^ (kOnes * '\\'));
    if (special != 0) return p + std::countr_zero(special) / 8;
    p += 8;
  }
  while (p < end && kPlain[static_cast<unsigned char>(*p)]) ++p;
  return p;
}

// The first byte in [p, end) that is no blank. Lines are indented by runs of blanks.
inline const char* skip_blanks(const char* p, const char* end) {
  while (kWordwise && end - p >= 8) {
    const uint64_t other = load_word(p) ^ (kOnes * ' ');
    if (other != 0) return p + std::countr_zero(other) / 8;
    p += 8;
  }
  while (p < end && *p == ' ') ++p;
  return p;
}

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline const char* skip_digits(const char* p, const char* end) {
  while (kWordwise && end - p >= 8) {
    // A digit becomes 0 to 9; all else has its high bit, or gets it. What is carried beyond the first of
    // these does not count.
    const uint64_t value = load_word(p) ^ (kOnes * '0');
    const uint64_t other = ((value + kOnes * 0x76) | value) & kHighs;
    if (other != 0) return p + std::countr_zero(other) / 8;
    p += 8;
  }
  while (p < end && is_digit(*p)) ++p;
  return p;
}

// number = [ - ] ( 0 | 1-9 digits ) [ . digits ] [ (e|E) [ + | - ] digits ]
// The end of the number that begins at p; null when none does.
inline const char* skip_number(const char* p, const char* end) {
  if (p < end && *p == '-') ++p;
  const char* const whole = p;
  p = skip_digits(p, end);
  if (p == whole || (p - whole > 1 && *whole == '0')) return nullptr;
  if (p < end && *p == '.') {
    const char* const fraction = ++p;
    p = skip_digits(p, end);
    if (p == fraction) return nullptr;
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p < end && (*p == '+' || *p == '-')) ++p;
    const char* const exponent = p;
    p = skip_digits(p, end);
    if (p == exponent) return nullptr;
  }
  return p;
}

// Whether any byte of text, which ends before end, is outside ASCII.
inline bool has_high_byte(std::string_view text, const char* end) {
  const char* p = text.data();
  size_t left = text.size();
  uint64_t all = 0;
  for (; left >= 8; left -= 8, p += 8) all |= load_word(p);
  if (kWordwise && end - p >= 8) {
    all |= load_word(p) & ((uint64_t{1} << (8 * left)) - 1);
  } else {
    for (; left > 0; --left, ++p) all |= static_cast<unsigned char>(*p) & 0x80u;
  }
  return (all & kHighs) != 0;
}

// The first byte in [p, end) that is no white space.
inline const char* skip_white(const char* p, const char* end) {
  while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p = skip_blanks(p + 1, end);
  return p;
}

// The end of the text whose quote is at p; null when it has escapes or does not end before end.
inline const char* skip_plain_text(const char* p, const char* end) {
  p = skip_plain(p + 1, end);
  return p < end && *p == '"' ? p + 1 : nullptr;
}

}  // namespace ulpscope
