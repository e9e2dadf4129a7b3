// The action `plugins check`: the conformance kit over one plugin, as a table for people or as JSON. Its
// options stand with those of the command in plugins_command.cpp.
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"

namespace ulpscope {

std::vector<OptionSpec> plugins_check_options();
// Checks the plugin that the command line names. Exit code finding when there is an error, or a warning with
// --strict.
Result<ExitCode> check_plugin_action(Context& context);

}  // namespace ulpscope
