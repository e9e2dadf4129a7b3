// The action `plugins new`: a folder with a plugin to start from. The templates are those of sdk/template,
// compiled in.
#pragma once

#include "cli/command.hpp"
#include "cli/context.hpp"

namespace ulpscope {

// Writes DIR/NAME with a plugin of the kind that the command line names. usage: another kind, or a name that
// no plugin may have; io: the folder exists or cannot be written.
Result<ExitCode> new_plugin_action(Context& context);

}  // namespace ulpscope
