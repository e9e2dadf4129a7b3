// The search for the first NaN or infinity of a dump: walks the operations of each rank in execution order
// and keeps those whose inputs are sound and whose output is not, and what came in from outside. What follows
// from an earlier finding is counted, not listed. Used by the overflow command; reads no data itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "index/dump_index.hpp"
#include "overflow/tensor_state.hpp"

namespace ulpscope {

enum class OverflowKind { nan, inf, limit, record };  // record: the accelerator itself reported it
std::string_view to_text(OverflowKind kind);

// certain: the tensor holds it. possible: a recorded mean or norm is not finite beside finite extremes, the
// value is the limit of float16, or infinities came in from outside and may be a mask.
enum class OverflowStatus { certain, possible };
std::string_view to_text(OverflowStatus status);

struct OverflowFinding {
  OpId op = kNoIndex;
  ItemId item = kNoIndex;  // kNoIndex: the op has no tensor
  OverflowKind kind = OverflowKind::nan;
  OverflowStatus status = OverflowStatus::certain;
  std::string why;  // in words: "inputs are finite"
};

struct OverflowReport {
  std::vector<OverflowFinding> findings;  // by step, place in the step, rank
  int64_t bad_tensors = 0;                // all that hold NaN or infinity, findings included
  int64_t ignored = 0;                    // of those: never written memory and receive buffers
  int64_t certain = 0;                    // findings that are
  int64_t records = 0;                    // of those: reports of the accelerator, which are no tensors
};

struct OverflowKinds {
  bool nan = true, inf = true, limit = true, record = true;
};

// states are those of tensor_states. cancelled when that is wanted.
Result<OverflowReport> find_overflow(const DumpIndex& index, const std::vector<TensorState>& states,
                                     const OverflowKinds& kinds, const Cancel& cancel);

}  // namespace ulpscope
