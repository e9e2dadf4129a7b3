// Runs a check where it can do no harm: in a forked process with a time limit, whose standard output and
// error are thrown away. Must be called while the calling process has one thread.
#pragma once

#include <functional>
#include <vector>

#include "base/result.hpp"
#include "conformance/check.hpp"

namespace ulpscope {

// The findings of check on subject. A crash, an exit and a time limit that passes are findings of level
// error. io: no process could be started.
Result<std::vector<Finding>> run_in_child(const Check& check, const CheckSubject& subject);

// Calls body in a child process and waits for it, limit_seconds at most. Empty when it came back; else what
// became of it: "crashed (SIGSEGV)", "ended the process with exit code 3", "did not come back within 10 s".
// io as above.
Result<std::string> fate_in_child(int limit_seconds, const std::function<void()>& body);

}  // namespace ulpscope
