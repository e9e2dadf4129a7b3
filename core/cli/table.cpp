#include "cli/table.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/output.hpp"

namespace ulpscope {

size_t line_limit() { return static_cast<size_t>(std::max(0, terminal_width(STDOUT_FILENO, 0))); }

void fit_columns(std::vector<size_t>& widths, const std::vector<bool>& is_number, size_t limit) {
  constexpr size_t kLeastText = 12, kGap = 2;
  if (limit == 0) return;
  const auto least = [&](size_t column) {
    return is_number[column] ? widths[column] : std::min(widths[column], kLeastText);
  };
  size_t used = 0, needed = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    const size_t gap = used == 0 ? 0 : kGap;
    // The first column stays even where it alone is too wide.
    if (used > 0 && needed + gap + least(i) > limit) {
      std::fill(widths.begin() + static_cast<std::ptrdiff_t>(i), widths.end(), 0);
      break;
    }
    needed += gap + least(i);
    used += gap + widths[i];
  }
  while (used > limit) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > least(i) && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    if (widest == widths.size()) return;
    --widths[widest];
    --used;
  }
}

std::string fit_cell(const std::string& text, size_t width, bool is_number) {
  const std::string shown = shorten_middle(text, static_cast<int64_t>(width));
  const std::string gap(width - std::min(width, columns_of(shown)), ' ');
  return is_number ? gap + shown : shown + gap;
}

TextTable::TextTable(std::vector<std::string> header, std::vector<bool> right)
    : header_(std::move(header)), right_(std::move(right)) {
  for (const std::string& cell : header_) widths_.push_back(columns_of(cell));
}

void TextTable::add(const std::vector<std::string>& cells) {
  std::vector<std::string> row;
  for (size_t i = 0; i < header_.size(); ++i) {
    row.push_back(printable(cells[i]));
    widths_[i] = std::max(widths_[i], columns_of(row.back()));
  }
  rows_.push_back(std::move(row));
}

std::string TextTable::line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    if (i > 0) out += "  ";
    out += fit_cell(cells[i], widths[i], right_[i]);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string TextTable::text(size_t limit) const {
  std::vector<size_t> widths = widths_;
  fit_columns(widths, right_, limit);
  std::string out = line(header_, widths);
  for (const auto& row : rows_) out += line(row, widths);
  return out;
}

}  // namespace ulpscope
