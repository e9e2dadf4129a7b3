// Writes compare_result.sqlite for users who ask questions in SQL (tables and example queries:
// docs/results.md).
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

// Writes a database to path. io: the file exists or cannot be written. pool null: rows are read on this
// thread alone. One thread at a time: the library runs without locks.
Status write_sqlite(const ReportView& report, const std::string& path, ThreadPool* pool = nullptr);

}  // namespace ulpscope
