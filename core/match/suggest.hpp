// Proposes which operations of two dumps belong together where their names differ: by shapes, order, values
// and the words in the names. Used by `mapping suggest`, which prints the answer as a mapping file for a
// person to check. Reads no data itself and changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "index/dump_index.hpp"

namespace ulpscope {

struct SuggestedRule {
  std::string target, golden;  // patterns of a mapping file, {n} for what counts up
  std::vector<std::pair<std::string, std::string>> items;  // those that are not called alike
  int64_t pairs = 0;     // operations of the target that it covers, each with one of golden
  int64_t compared = 0;  // of a few of them, those whose first outputs could be compared by statistics
  int64_t alike = 0;     // and are alike
};

// The statistics of a tensor, recorded or computed; nothing where there are none.
using StatisticsReader = std::function<std::optional<ulpscope_stats>(bool of_target, TensorId tensor)>;

// Rules for the operations of the first step and rank of each side that have no namesake on the other side,
// in execution order of the target. Operations pair only in families of equal size and equal shapes
// (dimensions of 1 do not count), and not where statistics are known and fewer than a third of them alike.
std::vector<SuggestedRule> suggest_mapping(const DumpIndex& target, const DumpIndex& golden,
                                           const StatisticsReader& statistics);

// The rules as a mapping file, with a remark on each.
std::string mapping_text(const std::vector<SuggestedRule>& rules);

}  // namespace ulpscope
