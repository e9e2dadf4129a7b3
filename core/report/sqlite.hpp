// Writes compare_result.sqlite for users who ask questions in SQL (tables and example queries:
// docs/results.md).
#pragma once

#include <string>

#include "base/result.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

// Writes a database to path. io: the file exists or cannot be written. Any thread, a file each.
Status write_sqlite(const ReportView& report, const std::string& path);

}  // namespace ulpscope
