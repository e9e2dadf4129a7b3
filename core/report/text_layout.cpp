#include "report/text_layout.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

namespace ulpscope {
namespace {

constexpr int64_t kDefaultWidth = 80;

struct Range {
  uint32_t first, last;
};
// Wide and zero-width characters, from Unicode's EastAsianWidth (W, F) and general category Mn, in whole
// blocks.
constexpr std::array<Range, 12> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0xA4CF},
                                          {0xA960, 0xA97F},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0xFFE0, 0xFFE6},
                                          {0x1F300, 0x1F64F},
                                          {0x1F900, 0x1F9FF},
                                          {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 4> kZeroWidth = {
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};

template <size_t n>
bool within(uint32_t code, const std::array<Range, n>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return code >= range.first && code <= range.last; });
}

struct Character {
  size_t begin, end;  // bytes
  int64_t width;
};

// The characters of valid UTF-8. A byte that starts none counts as one column.
std::vector<Character> characters(std::string_view text) {
  std::vector<Character> found;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t length = std::min(first < 0xC0   ? size_t{1}
                                   : first < 0xE0 ? 2
                                   : first < 0xF0 ? 3
                                                  : 4,
                                   text.size() - i);
    uint32_t code = length == 1 ? first : first & (0x7Fu >> length);
    for (size_t k = 1; k < length; ++k)
      code = (code << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3Fu);
    found.push_back({i, i + length, within(code, kZeroWidth) ? 0 : within(code, kWide) ? 2 : 1});
    i += length;
  }
  return found;
}

// Between single blanks; what stands between double quotes is of one word, blanks and all, and so is a member
// of JSON with its value.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  size_t begin = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted && text.find('"', i + 1) != std::string_view::npos;
    const bool is_member = i > 1 && text[i - 1] == ':' && text[i - 2] == '"';
    if (text[i] != ' ' || quoted || is_member) continue;
    found.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  found.push_back(text.substr(begin));
  return found;
}

}  // namespace

int64_t display_width(std::string_view utf8) {
  int64_t width = 0;
  for (const Character& character : characters(utf8)) width += character.width;
  return width;
}

std::string shorten_middle(std::string_view utf8, int64_t columns) {
  const std::vector<Character> all = characters(utf8);
  int64_t width = 0;
  for (const Character& character : all) width += character.width;
  if (columns <= 0 || width <= columns) return std::string(utf8);
  // The end of a name says more than its beginning: it gets the larger half.
  const int64_t head_room = (columns - 1) / 2, tail_room = columns - 1 - head_room;
  size_t head = 0, tail = all.size();
  for (int64_t used = 0; used + all[head].width <= head_room; ++head) used += all[head].width;
  for (int64_t used = 0; used + all[tail - 1].width <= tail_room; --tail) used += all[tail - 1].width;
  std::string out(utf8.substr(0, all[head].begin));
  out += "…";
  if (tail < all.size()) out += utf8.substr(all[tail].begin);
  return out;
}

std::string shorten_long(std::string_view utf8, int64_t columns, int64_t width) {
  constexpr int64_t kMaxLines = 3;
  const bool is_long = width > 0 && display_width(utf8) > kMaxLines * width;
  return is_long ? shorten_middle(utf8, columns) : std::string(utf8);
}

std::string wrap_words(std::string_view text, std::string_view indent, int64_t hang, int64_t width) {
  std::string out, current(indent);
  int64_t margin = display_width(indent), used = margin;
  bool first = true;
  for (const std::string_view whole : words(text)) {
    const std::string word = shorten_long(whole, width - display_width(indent) - hang, width);
    const int64_t length = display_width(word);
    if (!first && length > 0 && width > 0 && used + 1 + length > width) {
      current.erase(current.find_last_not_of(' ') + 1);
      out += current + "\n";
      margin = display_width(indent) + hang;
      current = std::string(indent) + std::string(static_cast<size_t>(hang), ' ');
      used = margin;
    } else if (!first) {
      current += ' ';
      ++used;
    }
    first = false;
    current += word;
    used += length;
  }
  return out + current + "\n";
}

TerminalStyle terminal_style(int fd, ColorChoice choice) {
  TerminalStyle style;
  const bool terminal = ::isatty(fd) == 1;
  if (terminal) {
    winsize size = {};
    style.width = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kDefaultWidth;
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool wanted = terminal && (no_color == nullptr || *no_color == '\0') &&
                      (term == nullptr || std::string_view(term) != "dumb");
  style.color = choice == ColorChoice::always || (choice == ColorChoice::automatic && wanted);
  return style;
}

}  // namespace ulpscope
