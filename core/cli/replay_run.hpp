// Recorded calls run again in float64, with the executors that this installation has. Used by the command
// replay and by compare --replay.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/context.hpp"
#include "execute/check_plan.hpp"
#include "execute/replay.hpp"

namespace ulpscope {

// A call of a dump, in one direction.
struct ReplayTarget {
  CheckItem item;
  Phase phase = Phase::forward;
};

// The call that a name means: "Torch.matmul.2.forward", or without its direction, which is forward then.
// usage: the step and rank have no such call, or no backward of it.
Result<ReplayTarget> find_replay_target(const DumpIndex& index, const StepRank& group,
                                        const std::string& name);

class Replayer {
 public:
  // Warns where LibTorch's executor is missing: the fused operators of an NPU run without. first: the
  // executor of a plugin that is asked before the others; empty: none. usage: there is no such executor.
  static Result<Replayer> create(Context& context, const std::string& first);

  // Runs the call from the inputs of the dump. An error of its inputs, or of an executor.
  Result<ReplaySide> run(const DumpIndex& index, const ReplayTarget& target);

 private:
  std::vector<ExecutorHandle> exact_;
  std::optional<ExecutorHandle> rounding_;  // runs in the recorded precision
};

}  // namespace ulpscope
