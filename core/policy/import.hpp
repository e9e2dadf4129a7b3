// Turns the standard lists of msprobe into a policy: lists of API names by standard
// (api_precision_standard.yaml), or limits by API and type (api_precision_threshold.yaml). Used by policy
// import.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

struct ImportedPolicy {
  std::string text;                // of a policy file that extends seed
  std::vector<std::string> notes;  // what was left out, with its place
  int rules = 0, names = 0;
};

// usage with file:line:column: no YAML, or none of the two forms.
Result<ImportedPolicy> import_policy(const std::string& path, std::string_view text);

}  // namespace ulpscope
