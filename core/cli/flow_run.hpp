// Runs the flow of an incident folder and prints where it stands: for the command flow and for guide flow.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/command.hpp"

namespace ulpscope {

class Context;

// Options used: go_on, format, lang. io: no folder. The answer is on stdout, the state in <folder>/flow.json.
Result<ExitCode> run_incident_flow(Context& context, const std::string& folder);

}  // namespace ulpscope
