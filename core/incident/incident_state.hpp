// flow.json, the state of an incident that stays in its folder. For incident_flow.
#pragma once

#include <string>
#include <vector>

#include "incident/incident_flow.hpp"

namespace ulpscope {

// What each step of the run before was run on and what it found. Empty: there was none, or
// something else has its name.
std::vector<IncidentStep> read_incident_state(const std::string& folder);

}  // namespace ulpscope
