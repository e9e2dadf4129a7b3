// The settings files of the pre-check: config.json with its section acc_check, and config.yaml. Used by the
// command check.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

struct CheckSettings {
  using Names = std::set<std::string, std::less<>>;
  std::optional<Names> white, black;
  Names quantised;              // APIs whose integers may be off by one
  std::string error_data_path;  // folder for saved tensors; empty: the folder of the results
  int digits = 14;              // behind the point of a number in the tables
};

// Reads the files in order, YAML before JSON whatever their order: the lists and the folder of a config.json
// replace those of a config.yaml. usage: a file cannot be read, a key is unknown or a value of another kind
// than expected, with file and key.
Result<CheckSettings> read_check_settings(const std::vector<std::string>& paths);

}  // namespace ulpscope
