// What a culprit carries for its reader: names, call site, numbers, worst elements, and what to do next. Used
// by the localisation only.
#pragma once

#include "locate/fault_finder.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// The culprit record of a fault.
Culprit describe(const ResultTable& table, const FaultFinder& finder, const Fault& fault);

// Place of an element in a shape, from its position in row-major order.
std::vector<int64_t> unravel(int64_t position, std::span<const int64_t> shape);

// A text as one word of a shell command.
std::string shell_word(std::string_view text);

}  // namespace ulpscope
