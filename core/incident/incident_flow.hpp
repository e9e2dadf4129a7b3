// The ten steps from a wrong answer to the operation at fault, walked through in a folder of an incident:
// what is there is run with its command, what is missing is said, and the state stays in flow.json. Used by
// the command flow; runs the other commands through its host and prints nothing itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "guide/guide_texts.hpp"

namespace ulpscope {

struct IncidentStep {
  int number = 0;
  std::string state = "todo";  // done, todo, blocked, failed
  std::string command;         // what was run, or is to be run
  std::string result;          // folder of its result in the incident folder; empty: none
  BothLanguages finding;
  std::vector<BothLanguages> missing;
  std::string inputs;  // fingerprint of what it was run on: names, sizes and times
  bool stops = false;  // found something that must be put right first
};

struct IncidentState {
  std::vector<IncidentStep> steps;
  // The step to be taken up: one that failed or must be put right, else the first that is not done and is not
  // passed by what came after it. 0: none.
  int next = 0;
  bool any_failed() const;
};

struct IncidentHost {
  // Runs a command of the program, words without the program's name; its exit code. What it prints goes to
  // the file output, or nowhere when that is empty.
  std::function<Result<int>(const std::vector<std::string>& words, const std::string& output)> run;
  // Whether the program has a command of that name.
  std::function<bool(const std::string& name)> has_command;
  // Called before a step is run.
  std::function<void(int step, const std::string& command)> started;
};

// io: no folder, or flow.json cannot be written. go_on: a step that stops does not block those behind it.
Result<IncidentState> run_incident(std::string folder, bool go_on, const IncidentHost& host);

// schema ulpscope.flow/1.
std::string incident_json(const IncidentState& state);

}  // namespace ulpscope
