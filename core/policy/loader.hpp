// Reads a policy: a YAML file of a user, or one of the presets that are compiled in. Every mistake is an
// error of code usage with file, line and column; the judgements themselves are asked for their options. An
// error of several mistakes has one on each line of its message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "plugin/registry.hpp"
#include "policy/policy.hpp"

namespace ulpscope {

// The names of the presets, the default first.
const std::vector<std::string>& preset_names();
// The text of a preset; usage: there is none of that name.
Result<std::string_view> preset_text(std::string_view name);

// One of the presets. usage: no such preset.
Result<Policy> load_preset(std::string_view name, Registry& registry);
// A file and what it extends. usage: it cannot be read, is no YAML, or holds a mistake.
Result<Policy> load_policy(const std::string& path, Registry& registry);

}  // namespace ulpscope
