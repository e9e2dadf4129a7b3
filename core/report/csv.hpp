// Writes comparison tables as CSV (RFC 4180): compare_result.csv with one row a pair, and the peer's tables
// for users who diff against old ones. A text of a dump that a spreadsheet would run as a formula is prefixed
// with an apostrophe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

// The columns of the full table: place and names, metrics in the order of the head, message.
std::vector<std::string> csv_columns(const ReportHead& head);

// Writes all columns of all rows to path, or to the standard output for "-". io: the file exists or cannot be
// written. Any thread.
Status write_csv(const ReportView& report, const std::string& path, ThreadPool* pool = nullptr);

// Appends a cell that holds text of strangers: quoted where needed, made harmless where it starts like a
// formula. Numbers such as -1.5, -inf or -3% stay as they are.
void append_csv_cell(std::string& out, std::string_view text);

// Appends cells joined by commas, and a line end.
void append_csv_line(std::string& out, const std::vector<std::string>& cells);

}  // namespace ulpscope
