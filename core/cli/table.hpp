// Tables of text for people: columns as wide as their widest cell, numbers to the right, two blanks between.
// Used by the commands that list things. Does not cut: what is piped into another program must be whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/text_layout.hpp"

namespace ulpscope {

// Columns of text counted as a terminal shows it: one a code point. Any thread.
inline size_t columns_of(std::string_view text) { return static_cast<size_t>(display_width(text)); }

class TextTable {
 public:
  // right: for each column whether it is aligned to the right (numbers).
  TextTable(std::vector<std::string> header, std::vector<bool> right);
  // As many cells as the header has. Cells are made safe for a terminal here.
  void add(const std::vector<std::string>& cells);
  bool empty() const { return rows_.empty(); }
  // Header and rows, each line ended; no trailing blanks.
  std::string text() const;

 private:
  std::string line(const std::vector<std::string>& cells) const;

  std::vector<std::string> header_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> widths_;
};

}  // namespace ulpscope
