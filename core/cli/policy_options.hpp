// --policy and --profile of a command, and the policy that they name. Used by the commands that judge.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/context.hpp"
#include "policy/policy.hpp"

namespace ulpscope {

std::vector<OptionSpec> policy_options();

// The file of --policy, else the preset of --profile, else the preset seed. usage: both are given, or a
// mistake in the file.
Result<Policy> chosen_policy(Context& context, const ParsedOptions& options);

// "2024-01-31 23:59:59" as the files of the pre-check have it in their names: "20240131235959".
std::string compact_time();

}  // namespace ulpscope
