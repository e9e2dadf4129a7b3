// Steps and ranks that one dump has alone: what is said of them beside the verdict, which knows nothing of
// them. Used by localise(). Pure.
#pragma once

#include <string>
#include <vector>

#include "report/result_table.hpp"

namespace ulpscope {

// Groups of ops that the other side has none for, and of whose ops none is paired: a mapping may pair some.
struct LoneGroups {
  std::vector<const StepRank*> target, golden;  // in the order of their dump
};
LoneGroups lone_groups(const ResultTable& table);

// "steps 1, 2 are only in golden: their 272 rows were not compared", a line for the steps, the ranks and each
// other group that a side has alone. None where a side holds nothing at all.
std::vector<std::string> lone_group_notes(const ResultTable& table, const LoneGroups& lone);

}  // namespace ulpscope
