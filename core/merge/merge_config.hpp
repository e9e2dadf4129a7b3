// The configuration of the peer's merge_result: which operations and which columns. Read with yaml-cpp;
// nothing else of the program includes it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

struct MergeConfig {
  std::vector<std::string> apis;     // "api"
  std::vector<std::string> metrics;  // "compare_index", in our names
  std::vector<std::string> notes;    // columns that have no counterpart here
};

// Reads a file such as
//   api: [Distributed.all_reduce, Torch.matmul.0]
//   compare_index: [MaxAbsErr, Cosine]
// usage: no such file, not YAML, or not of that form (with line and column). Any thread.
Result<MergeConfig> read_merge_config(const std::string& path);

// Our names for one of the peer's columns, or the name itself where it is one of ours; empty: there is no
// such thing.
std::vector<std::string> metrics_of_column(const std::string& column);

}  // namespace ulpscope
