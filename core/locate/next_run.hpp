// What to do after an operation was named: commands for the shell, and the settings of the collector for the
// run that looks inside it. Used by the evidence of a culprit.
#pragma once

#include <string>
#include <vector>

#include "report/result_table.hpp"

namespace ulpscope {

// Where the input at fault comes from; neither: an output is at fault, or the input of another op is read.
struct InputOrigin {
  bool outside = false;      // it is the result of no recorded operation
  OpId extra_op = kNoIndex;  // it is the result of this op, which the target alone has
};

// The steps for a culprit found in rows of this mode, most useful first.
std::vector<std::string> next_steps(const ResultTable& table, const Culprit& culprit,
                                    const InputOrigin& origin, Mode mode);

}  // namespace ulpscope
