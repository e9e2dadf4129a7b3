#include "cli/wrap_text.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "cli/table.hpp"

namespace ulpscope {
namespace {

// What stays together, and whether a blank is before it.
struct Piece {
  std::string_view text;
  bool blank = false;
};

size_t bytes_of_character(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end - at;
}

// Marks that do not begin a line.
bool is_closing_mark(std::string_view character) {
  constexpr std::string_view kMarks[] = {"，", "。", "；", "：", "、", "！", "？", "）", "》", "”"};
  return std::find(std::begin(kMarks), std::end(kMarks), character) != std::end(kMarks);
}

void add_pieces(std::string_view word, std::vector<Piece>& pieces) {
  bool blank = true, may_break = false;
  size_t begin = 0;
  for (size_t at = 0; at < word.size();) {
    const std::string_view character = word.substr(at, bytes_of_character(word, at));
    const bool wide = columns_of(character) > 1;
    if (at > begin && (wide || may_break) && !is_closing_mark(character)) {
      pieces.push_back({word.substr(begin, at - begin), blank});
      begin = at;
      blank = false;
    }
    may_break = wide;
    at += character.size();
  }
  pieces.push_back({word.substr(begin), blank});
}

}  // namespace

std::string wrap_text(std::string_view text, size_t indent, size_t width) {
  const std::string margin(indent, ' ');
  if (width == 0) return margin + std::string(text) + "\n";
  std::vector<Piece> pieces;
  for (const std::string_view word : split(text, ' ')) add_pieces(word, pieces);
  std::string out, line = margin;
  size_t taken = indent;
  bool empty = true;
  for (const Piece& piece : pieces) {
    const size_t columns = columns_of(piece.text), blank = piece.blank && !empty ? 1 : 0;
    if (!empty && taken + blank + columns > width) {
      out += line + "\n";
      line = margin;
      taken = indent;
      empty = true;
    }
    if (piece.blank && !empty) line += ' ';
    line += piece.text;
    taken += (empty ? 0 : blank) + columns;
    empty = false;
  }
  return out + line + "\n";
}

}  // namespace ulpscope
