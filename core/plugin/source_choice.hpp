// Which source reads a dump, from what every source says of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// What one source answered to probe.
struct ProbeRow {
  std::string source;
  int32_t score = 0;
  std::string why;
};

// From this score on a source may be taken without being named.
constexpr int32_t kLeastScore = 50;

// The name of the unique source with the highest score, if that is at least kLeastScore. Else usage, with the
// table of scores and reasons. Pure.
Result<std::string> choose_source(const std::string& path, std::vector<ProbeRow> rows);

}  // namespace ulpscope
