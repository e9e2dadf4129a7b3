// Writes compare_result.json (schema ulpscope.compare/1, docs/results.md), streaming: one row a line, no tree
// in memory.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

// Writes the report to path, or to the standard output for "-". io: the file exists or cannot be written. Any
// thread.
Status write_json(const ReportView& report, const std::string& path, ThreadPool* pool = nullptr);

// The list of culprits or suspects as it stands in the JSON report. For reports that carry it as one text.
void append_json_culprit(std::string& out, const Culprit& culprit);

// Everything of the report before its rows; the object stays open.
void append_json_head(std::string& out, const ReportHead& head);
// The list of diagnostics.
void append_json_diagnostics(std::string& out, const ReportHead& head);

}  // namespace ulpscope
