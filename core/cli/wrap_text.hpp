// Text for a person, broken into the lines of a terminal, in any script. Used by help, tables, guide and
// flow.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ulpscope {

// text (UTF-8) broken at blanks and between wide characters (Chinese, Japanese) into lines of at most width
// columns, each after indent blanks and ended; a longer word stays whole. width 0: one line. Any thread.
std::string wrap_text(std::string_view text, size_t indent, size_t width);

}  // namespace ulpscope
