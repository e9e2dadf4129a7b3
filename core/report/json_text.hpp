// Pieces of JSON text, appended to a buffer. Used by the writers that stream; always valid JSON in valid
// UTF-8, whatever the dump held.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ulpscope {

// A string with its quotes. Control characters are escaped, bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);
// The shortest number that reads back as value; "NaN", "Infinity" and "-Infinity" as strings.
void append_json_number(std::string& out, double value);
void append_json_number(std::string& out, int64_t value);
// An argument's value: text itself where it is JSON, null where it is empty, else text as a string.
void append_json_value(std::string& out, std::string_view text);
// A text that is a number becomes one, every other a string.
void append_json_number_or_string(std::string& out, std::string_view text);
// [2,5]
void append_json_shape(std::string& out, std::span<const int64_t> shape);

// A finite value in the shortest text that reads back as it; -0.0 keeps its sign.
void append_finite(std::string& out, double value);

// Whether text is one JSON number: -1.5e3, but not 007, +1 or NaN.
bool is_json_number(std::string_view text);

}  // namespace ulpscope
