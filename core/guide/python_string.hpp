// Where a Python string ends, read without Python. Formatted strings (f"…", t"…") are followed as Python 3.12
// and later read them: a replacement field may hold quotes of the string's own kind, comments and line ends.
// Earlier versions allow less, so that their strings end at the same place. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace ulpscope {

struct PythonStringEnd {
  size_t at = 0;     // behind the closing quotes; behind the line, or the text, when there are none
  size_t lines = 0;  // line ends passed
};

// at is the first quote of a string in text. Fields nested more than 150 deep, which Python itself refuses,
// are read as plain text.
PythonStringEnd end_of_python_string(std::string_view text, size_t at);

}  // namespace ulpscope
