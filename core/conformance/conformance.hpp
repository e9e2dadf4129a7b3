// The conformance kit: what a plugin is asked before strangers trust it. Runs the checks that fit what the
// plugin holds, each in a process of its own, and answers with what they found. Used by `plugins check` and
// by our own tests over every plugin of the tree.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "conformance/check.hpp"

namespace ulpscope {

struct ConformanceOptions {
  std::string only;         // a check, or the first words of some: "source", "source.scan_twice"; empty: all
  bool in_process = false;  // run the checks in this process, for a debugger: a crash ends it
};

struct CheckOutcome {
  Check check;
  std::string skipped;  // why it was not run; empty: it was
  std::vector<Finding> findings;
};

struct ConformanceResult {
  std::vector<CheckOutcome> outcomes;
  // How many findings of that level there are.
  size_t count(FindingLevel level) const;
};

// Every check there is.
std::vector<Check> all_checks();

// Checks the plugin file, or the compiled-in plugin behind entry where file is empty. usage: only names no
// check. io: no process can be started. To be called while the process has one thread.
Result<ConformanceResult> check_plugin(const std::string& file, ulpscope_plugin_entry_fn entry,
                                       const std::string& sample, const ConformanceOptions& options);

}  // namespace ulpscope
