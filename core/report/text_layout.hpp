// Text on a terminal: how wide it is, and how it is made to fit. Used by the summary of a run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ulpscope {

// Columns that valid UTF-8 takes on a terminal: East Asian wide characters two, combining marks none.
int64_t display_width(std::string_view utf8);

// text with its middle replaced by "…" so that it takes at most columns; whole where it fits, or where
// columns is 0 or less.
std::string shorten_middle(std::string_view utf8, int64_t columns);

// How a terminal is used. none: colours off and no width limit.
struct TerminalStyle {
  int64_t width = 0;  // columns; 0: not a terminal, nothing is shortened
  bool color = false;
};

enum class ColorChoice { automatic, always, never };

// The style for a file descriptor: width as the terminal says, 80 where it does not, 0 where it is none.
// Colours on a terminal unless NO_COLOR is set and not empty or TERM is dumb; always and never are taken at
// their word.
TerminalStyle terminal_style(int fd, ColorChoice choice);

}  // namespace ulpscope
