// Values as Python prints them: 'text', [1, 2], (1,), {'a': 1}, Name(a=1, b='x'), torch.bfloat16, None. Read
// tolerantly, for prints leave quotes out and are cut short by "..."; nothing is evaluated. Used by the
// readers of logs.
#pragma once

#include <string_view>

#include "config_check/config_value.hpp"

namespace ulpscope {

// Comma separated name=value pairs from text on, up to the bracket that closes them (behind which *end is
// put), a "..." or the end of the text. A call (Name(…)) and a dict become objects, a tuple a list, a bare
// word a text. Nested deeper than 64: kept as text. Pure.
ConfigValue parse_python_fields(std::string_view text, size_t* end = nullptr);

// One value at the beginning of text; *end is put behind it.
ConfigValue parse_python_value(std::string_view text, size_t* end = nullptr);

}  // namespace ulpscope
