// Writes junit.xml for test runners and CI: a test case an op pair, a test suite a step and rank. The message
// of a case is what its rows say.
#pragma once

#include <string>

#include "base/result.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

// Writes path; well-formed XML 1.0 whatever the dump held. A warning is a passed case with its text as
// output. io: the file exists or cannot be written. Any thread.
Status write_junit(const ReportView& report, const std::string& path);

}  // namespace ulpscope
