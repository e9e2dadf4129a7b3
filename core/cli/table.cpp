#include "cli/table.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace ulpscope {

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

std::string TextTable::line(const std::vector<std::string>& cells) const {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string gap(widths_[i] - columns_of(cells[i]), ' ');
    if (i > 0) out += "  ";
    out += right_[i] ? gap + cells[i] : cells[i] + gap;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string TextTable::text() const {
  std::string out = line(header_);
  for (const auto& row : rows_) out += line(row);
  return out;
}

}  // namespace ulpscope
