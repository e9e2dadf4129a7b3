// The executors of a run: the formulas of fused operators that are always there, and LibTorch's where it was
// built. Used by the worker of check and by replay.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/context.hpp"
#include "execute/api_checker.hpp"

namespace ulpscope {

// Loads the executor on LibTorch, which lies in a folder of its own beside the plugins, so that no other
// command pays for it. False when this installation has none, with the reason.
bool load_torch(Context& context, std::string& why_not);

struct ExecutorWish {
  std::string device = "auto";  // auto, cpu, cuda:N, npu:N, a number, or recorded
  std::string golden_precision = "raised";
  std::string library;  // to load first: torch_npu's
  int64_t threads = 1;
  bool has_recorded = false;  // the dump holds the outputs of a device
  std::string first;          // name of an executor that is asked before the others; empty: none
};

struct ExecutorSet {
  CheckExecutors executors;
  std::string device;                // what became of the wish: "cpu", "recorded", …
  std::vector<std::string> notices;  // what is missing
};

// usage: a device that is not there, or recorded where the dump holds no outputs; unsupported: a device
// without LibTorch.
Result<ExecutorSet> make_executors(Context& context, const ExecutorWish& wish);

}  // namespace ulpscope
