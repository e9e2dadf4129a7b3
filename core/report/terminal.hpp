// The answer of a run on the standard output: what was compared, what is at fault and why, what to do next,
// and the counts. All text of dumps is made safe for a terminal. Makes text only; prints nothing.
#pragma once

#include <string>

#include "report/report_view.hpp"
#include "report/text_layout.hpp"

namespace ulpscope {

struct TerminalOptions {
  TerminalStyle style;
  std::string report_path;  // of the report to open next; empty: none was written
};

// The block of lines, each ended by a newline. Any thread.
std::string terminal_summary(const ReportView& report, const TerminalOptions& options);

}  // namespace ulpscope
