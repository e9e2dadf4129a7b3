// Writes compare_result.xlsx: a summary sheet, the rows coloured by verdict, the diagnostics. Text of a dump
// is always text, never a formula. Rows are streamed, so memory does not grow with them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

// Rows of one sheet without its header; more go on in further sheets "Rows 2", ….
constexpr int64_t kXlsxRowsPerSheet = 1'048'500;

// Writes a workbook to path. io: the file exists or cannot be written. rows_per_sheet: for tests. Any thread,
// a file each.
Status write_xlsx(const ReportView& report, const std::string& path,
                  int64_t rows_per_sheet = kXlsxRowsPerSheet);

}  // namespace ulpscope
