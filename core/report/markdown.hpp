// Writes compare_result.md, short enough for a ticket: the finding, the culprits, the worst rows, the
// diagnostics.
#pragma once

#include <string>

#include "base/result.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

// Writes path. Text of dumps is shown, never interpreted as Markdown or HTML. io: the file exists or cannot
// be written. Any thread.
Status write_markdown(const ReportView& report, const std::string& path);

}  // namespace ulpscope
