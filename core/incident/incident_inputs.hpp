// What lies in an incident folder, by the names that flow knows, and fingerprints of it. For incident_flow.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

struct IncidentInputs {
  std::vector<std::string> golden_outputs, problem_outputs;  // golden.outputs*
  std::vector<std::string> golden_repeats, problem_repeats;  // golden.run2*, golden.run3*, …
  std::vector<std::string> golden_scores, problem_scores;    // golden.scores*
  std::string golden_bundle, problem_bundle;                 // golden/, problem/
  std::string golden_ledger, problem_ledger;                 // golden.ledger.jsonl
  std::string golden_dump, problem_dump;                     // golden_dump/
};

// Paths in the folder; empty where there is none. io: no folder.
Result<IncidentInputs> find_incident_inputs(const std::string& folder);

// Names, sizes and times of files and of what is in folders, as one hash; links are not followed.
std::string fingerprint(const std::vector<std::string>& paths);

}  // namespace ulpscope
