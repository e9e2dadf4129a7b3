// Small text tools that several folders need: shortest numbers, globs, number lists, safe display of
// strangers' text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// The shortest decimal text that reads back as the same double; "NaN", "Infinity", "-Infinity" for the
// others.
std::string number_text(double value);
// Appends the same to out.
void append_number(std::string& out, double value);

// The whole of text as a decimal integer; nothing when it is anything else or does not fit.
std::optional<int64_t> parse_int(std::string_view text);
// The whole of text as a double ("1e-3", "nan", "inf", case-insensitive); nothing when it is anything else.
std::optional<double> parse_double(std::string_view text);

// Whether text matches a pattern of '*' (any run), '?' (any one byte) and plain bytes. ignore_case: ASCII
// only.
bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case = false);

// A list like "0,2-5" as sorted distinct numbers; usage when it is malformed, descending or holds over a
// million.
Result<std::vector<int32_t>> parse_number_list(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);
std::string to_lower(std::string_view text);
// Without blanks, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

// Made safe for a terminal: control bytes, invalid UTF-8 and marks of direction or no width become \xNN.
std::string printable(std::string_view text);
bool is_utf8(std::string_view text);
// text without bytes that are not valid UTF-8 (each becomes U+FFFD).
std::string valid_utf8(std::string_view text);

// "1.5 GB", "320 kB", "12 B": decimal units, two significant digits.
std::string size_text(uint64_t size_bytes);
// 1234567 as "1 234 567".
std::string count_text(int64_t count);

}  // namespace ulpscope
