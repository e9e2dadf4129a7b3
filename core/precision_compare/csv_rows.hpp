// Rows of a CSV file (RFC 4180, read leniently): UTF-8 with or without a byte order mark, any line ends,
// quoted cells with line breaks, rows of any length. Used by details_table. Reads the text it is given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ulpscope {

class CsvRows {
 public:
  explicit CsvRows(std::string_view text);
  // The next row that is not empty; false at the end. Cells are overwritten. A quote that is never closed
  // ends with the text, and unclosed() says so. Cells behind the first kMostCells are passed over, and
  // too_wide() says so from then on.
  bool next(std::vector<std::string>& cells);
  // Of the row that next gave, counted from 1 in lines of the file.
  int64_t line() const { return line_; }
  bool unclosed() const { return unclosed_; }
  static constexpr size_t kMostCells = 1024;
  bool too_wide() const { return too_wide_; }

 private:
  void read_quoted(std::string& cell);

  std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 0, next_line_ = 1;
  bool unclosed_ = false, too_wide_ = false;
};

}  // namespace ulpscope
