// Text as Unicode code points, and what the character database says of them. Used where outputs are compared
// or looked at as text. The tables are ICU's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ulpscope {

// The code points of a text; bytes that are not UTF-8 become U+FFFD. Any thread.
std::u32string code_points(std::string_view utf8);
// As many, counted.
int64_t count_code_points(std::string_view utf8);
// The same text as UTF-8.
std::string utf8_of(std::u32string_view text);

bool is_white_space(char32_t c);
// Categories L and M.
bool is_letter_or_mark(char32_t c);
// Categories L and N, and '_': what a word is made of.
bool is_word_character(char32_t c);
// Categories Cc, Cn, Co and Cs.
bool is_control_or_unassigned(char32_t c);
// Letters and digits of any script.
bool is_letter_or_digit(char32_t c);

}  // namespace ulpscope
