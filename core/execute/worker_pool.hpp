// Worker processes that run APIs: copies of this program under a hidden command, one line of JSON to ask, one
// to answer. A worker that crashes, hangs or is killed costs the API that it had a SKIP with the reason, and
// is replaced; the host goes on. Used by the host of the check; one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "execute/check_plan.hpp"
#include "execute/check_report.hpp"

namespace ulpscope {

struct WorkerOptions {
  std::vector<std::string> command;         // program and arguments of a worker
  std::vector<std::string> configurations;  // first line to a worker, one JSON object each, in turn
  int count = 1;
  std::chrono::seconds time_limit{300};   // of one API
  std::chrono::seconds start_limit{120};  // until a worker is ready
  bool show_errors = false;               // the stderr of the workers goes to this one's
};

// What a worker says when it is ready.
struct WorkerReady {
  std::string device;                // on which it runs, or "recorded"
  std::vector<std::string> notices;  // what it lacks
};

// Runs items through the workers; report is called once for each item, in the order in which they finish, and
// may end the run with an error. ready is called for the first worker. The error of a worker that cannot
// start; cancelled when the user stopped.
Status run_workers(const WorkerOptions& options, const std::vector<const CheckItem*>& items,
                   const Cancel& cancel, const std::function<void(const WorkerReady&)>& ready,
                   const std::function<Status(const CheckReport&)>& report);

// The line that asks for an item, and back. format: not such a line.
std::string to_line(const CheckItem& item);
Result<CheckItem> item_from_line(std::string_view line);
// The line that says ready, or what keeps a worker from it.
std::string ready_line(const WorkerReady& ready);
std::string failure_line(const Error& error);

// The report of an API that could not be run for a reason of its own.
CheckReport skipped_report(const CheckItem& item, std::string message);

}  // namespace ulpscope
