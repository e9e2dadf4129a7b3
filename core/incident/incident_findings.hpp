// What the result of a step says in one line, out of its JSON. For incident_flow; tolerant of members that
// are not there.
#pragma once

#include <string>

#include "guide/guide_texts.hpp"

namespace ulpscope {

struct StepFinding {
  BothLanguages text;
  bool stops = false;                     // must be put right before the next steps mean anything
  std::string culprit;                    // operation that compare found
  std::string dump_again;                 // how to dump its tensors, where the dump has none
  std::string token;                      // position of the first differing token
  std::string golden_step, problem_step;  // that make this token, by the ledgers
  bool readable = false;                  // whether the file was there and JSON
};

// path: of <command>_result.json.
StepFinding finding_of(int step, const std::string& path);

// Whether every request of a first_token_diff_result.json of --runs has one output in all runs.
bool has_one_output_each(const std::string& path);

// What the last line of a text that replay printed says; empty: the file is not there.
BothLanguages replay_finding(const std::string& path);

}  // namespace ulpscope
