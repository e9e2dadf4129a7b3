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

// A name as shorten_middle gives it for `columns`, but whole up to three lines of a terminal of `width`: it
// is what is looked for and copied. Whole where width is 0.
std::string shorten_long(std::string_view utf8, int64_t columns, int64_t width);

// Text on lines of at most `width` columns (0: one line), each ended by a newline: the first after indent,
// the others after `hang` blanks more. No word is broken, nor what stands between double quotes, nor a member
// of JSON; one of more than three lines is shortened in the middle.
std::string wrap_words(std::string_view text, std::string_view indent, int64_t hang, int64_t width);

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
