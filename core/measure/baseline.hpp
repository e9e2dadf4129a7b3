// Differences that a user has accepted, each with a reason: still listed in every report, but not counted.
// Read from a YAML file; applied after localisation.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

struct AcceptedDifference {
  std::string op = "*";      // glob over the op's name
  std::string tensor = "*";  // glob over the tensor ("output.0")
  std::string why;
  std::string place;  // "file:line", for the message
};
using Baseline = std::vector<AcceptedDifference>;

// The list of a file of the form {accept: [{op, tensor, why}]}; empty for an empty path. io: unreadable;
// usage: an unknown key or a missing reason, with line and column.
Result<Baseline> load_baseline(const std::string& path);

// Rows that fail or warn and match an entry pass, and their message says why. Returns the entries that no row
// matched, as "file:line:column: …".
std::vector<std::string> apply_baseline(ResultTable& table, const Baseline& baseline);

}  // namespace ulpscope
