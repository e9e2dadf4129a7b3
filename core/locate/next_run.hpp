// What to do after an operation was named: commands for the shell, and the settings of the collector for the
// run that looks inside it. Used by the evidence of a culprit.
#pragma once

#include <string>
#include <vector>

#include "report/result_table.hpp"

namespace ulpscope {

// The steps for a culprit found in rows of this mode, most useful first. is_input: its input is at fault.
std::vector<std::string> next_steps(const ResultTable& table, const Culprit& culprit, bool is_input,
                                    Mode mode);

}  // namespace ulpscope
