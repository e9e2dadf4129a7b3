#include "outputs/code_points.hpp"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

namespace ulpscope {
namespace {

constexpr char32_t kReplacement = 0xfffd;

// The next code point of text; moves at.
char32_t next_code_point(std::string_view text, size_t& at) {
  const auto* const data = reinterpret_cast<const uint8_t*>(text.data());
  auto i = static_cast<int64_t>(at);
  const auto size = static_cast<int64_t>(text.size());
  UChar32 c = 0;
  U8_NEXT(data, i, size, c);
  at = static_cast<size_t>(i);
  return c < 0 ? kReplacement : static_cast<char32_t>(c);
}

uint32_t category_bit(char32_t c) { return U_GET_GC_MASK(static_cast<UChar32>(c)); }

}  // namespace

std::u32string code_points(std::string_view utf8) {
  std::u32string text;
  text.reserve(utf8.size());
  for (size_t at = 0; at < utf8.size();) text += next_code_point(utf8, at);
  return text;
}

int64_t count_code_points(std::string_view utf8) {
  int64_t count = 0;
  for (size_t at = 0; at < utf8.size(); ++count) next_code_point(utf8, at);
  return count;
}

std::string utf8_of(std::u32string_view text) {
  std::string out;
  for (const char32_t c : text) {
    uint8_t bytes[U8_MAX_LENGTH] = {};
    int32_t size = 0;
    UBool failed = 0;
    U8_APPEND(bytes, size, U8_MAX_LENGTH, static_cast<UChar32>(c), failed);
    if (failed)
      out += "\xef\xbf\xbd";
    else
      out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  }
  return out;
}

bool is_white_space(char32_t c) { return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0; }
bool is_letter_or_mark(char32_t c) { return (category_bit(c) & (U_GC_L_MASK | U_GC_M_MASK)) != 0; }
bool is_word_character(char32_t c) {
  return c == U'_' || (category_bit(c) & (U_GC_L_MASK | U_GC_N_MASK)) != 0;
}
bool is_letter_or_digit(char32_t c) { return (category_bit(c) & (U_GC_L_MASK | U_GC_N_MASK)) != 0; }
bool is_control_or_unassigned(char32_t c) {
  return (category_bit(c) & (U_GC_CC_MASK | U_GC_CN_MASK | U_GC_CO_MASK | U_GC_CS_MASK)) != 0;
}

}  // namespace ulpscope
