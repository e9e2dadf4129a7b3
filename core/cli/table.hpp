// Tables of text for people: columns as wide as their widest cell, numbers to the right, two blanks between.
// Used by the commands that list things. Into a pipe or file nothing is cut: what another program reads must
// be whole. On a terminal lines are made to fit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/text_layout.hpp"

namespace ulpscope {

// Columns of text counted as a terminal shows it: one a code point. Any thread.
inline size_t columns_of(std::string_view text) { return static_cast<size_t>(display_width(text)); }

// Columns of the terminal that stdout is; 0 where it is none, and nothing is to be cut.
size_t line_limit();

// Makes columns of these widths, two blanks between, fit into a line: text columns are narrowed, the widest
// first, down to the least a name can be told by; columns at the end that still do not fit become 0 wide and
// are to be left out. Columns of names are neither narrowed nor left out, since names are copied: where they
// alone are too wide the terminal breaks the line, up to three of them. limit 0: anything fits. is_name:
// empty where there are none. Any thread.
void fit_columns(std::vector<size_t>& widths, const std::vector<bool>& is_number, size_t limit,
                 const std::vector<bool>& is_name = {});

// A cell in a column of that width: shortened in the middle, then filled up. Any thread.
std::string fit_cell(const std::string& text, size_t width, bool is_number);

class ColumnTable {
 public:
  // right: for each column whether it is aligned to the right (numbers).
  ColumnTable(std::vector<std::string> header, std::vector<bool> right);
  // As many cells as the header has. Cells are made safe for a terminal here.
  void add(const std::vector<std::string>& cells);
  bool empty() const { return rows_.empty(); }
  // Header and rows, each line ended; no trailing blanks. limit: columns of the terminal, 0 for none. Where
  // the table is wider its last column is broken into lines, and nothing is cut.
  std::string text(size_t limit = 0) const;

 private:
  std::string line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const;
  std::string broken_line(const std::vector<std::string>& cells, size_t limit) const;

  std::vector<std::string> header_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> widths_;
};

}  // namespace ulpscope
