#include "cli/table.hpp"

#include <algorithm>

#include "base/stray_output.hpp"
#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/wrap_text.hpp"

namespace ulpscope {

size_t line_limit() { return static_cast<size_t>(std::max(0, terminal_width(answer_descriptor(), 0))); }

void fit_columns(std::vector<size_t>& widths, const std::vector<bool>& is_number, size_t limit,
                 const std::vector<bool>& is_name) {
  constexpr size_t kLeastText = 12, kGap = 2, kMostLines = 3;
  if (limit == 0) return;
  const auto keeps = [&](size_t column) { return column < is_name.size() && is_name[column]; };
  for (size_t i = 0; i < widths.size(); ++i)
    if (keeps(i) && widths[i] > kMostLines * limit) widths[i] = limit * 2 / 3;
  const auto least = [&](size_t column) {
    return is_number[column] || keeps(column) ? widths[column] : std::min(widths[column], kLeastText);
  };
  size_t used = 0, needed = 0;
  bool is_full = false;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    const size_t gap = used == 0 ? 0 : kGap;
    // The first column stays even where it alone is too wide.
    is_full = is_full || (used > 0 && needed + gap + least(i) > limit);
    if (is_full && !keeps(i)) {
      widths[i] = 0;
      continue;
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

ColumnTable::ColumnTable(std::vector<std::string> header, std::vector<bool> right)
    : header_(std::move(header)), right_(std::move(right)) {
  for (const std::string& cell : header_) widths_.push_back(columns_of(cell));
}

void ColumnTable::add(const std::vector<std::string>& cells) {
  std::vector<std::string> row;
  for (size_t i = 0; i < header_.size(); ++i) {
    row.push_back(printable(cells[i]));
    widths_[i] = std::max(widths_[i], columns_of(row.back()));
  }
  rows_.push_back(std::move(row));
}

std::string ColumnTable::line(const std::vector<std::string>& cells,
                              const std::vector<size_t>& widths) const {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    if (i > 0) out += "  ";
    out += fit_cell(cells[i], widths[i], right_[i]);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

// The last cell below itself, or below the others where little room is left beside them.
std::string ColumnTable::broken_line(const std::vector<std::string>& cells, size_t limit) const {
  constexpr size_t kLeastRoom = 24, kIndent = 4;
  std::vector<size_t> widths = widths_;
  widths.back() = 0;
  std::string head = line(cells, widths);
  head.pop_back();
  size_t taken = 0;
  for (size_t i = 0; i + 1 < widths_.size(); ++i) taken += widths_[i] + 2;
  if (cells.back().empty()) return head + "\n";
  if (taken + kLeastRoom > limit) return head + "\n" + wrap_text(cells.back(), kIndent, limit);
  const std::string tail = wrap_text(cells.back(), taken, limit);
  return head + std::string(taken - std::min(taken, columns_of(head)), ' ') + tail.substr(taken);
}

std::string ColumnTable::text(size_t limit) const {
  size_t whole = 0;
  for (const size_t width : widths_) whole += (whole == 0 ? 0 : 2) + width;
  const bool fits = limit == 0 || whole <= limit || right_.back();
  std::vector<size_t> widths = widths_;
  if (limit > 0 && right_.back()) fit_columns(widths, right_, limit);
  std::string out = fits ? line(header_, widths) : broken_line(header_, limit);
  for (const auto& row : rows_) out += fits ? line(row, widths) : broken_line(row, limit);
  return out;
}

}  // namespace ulpscope
