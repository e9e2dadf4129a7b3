// What is known of one operation with regard to NaN and infinity: its inputs and its outputs taken together,
// and the items that decide. Used by the search for the first overflow only. Pure.
#pragma once

#include <set>
#include <vector>

#include "index/dump_index.hpp"
#include "overflow/tensor_state.hpp"

namespace ulpscope {

// One side of an operation.
struct SideState {
  bool nan = false, inf = false, mask = false;  // mask: every infinity of the side looks like that of a mask
  bool positive_inf = false;
  bool only_mean_or_norm = false, limit = false, unknown = false;
  ItemId nan_item = kNoIndex, inf_item = kNoIndex, possible_item = kNoIndex,
         limit_item = kNoIndex;  // first of each
  bool bad() const { return nan || inf; }
};

struct OverflowState {
  SideState inputs;     // tensors that came in: arguments, parameters
  SideState arguments;  // arguments that are no tensors
  SideState outputs;    // and gradients
  ItemId nan_argument = kNoIndex;
  int64_t bad_tensors = 0, ignored = 0;
};

// Shapes of never written memory that was seen to hold NaN or infinity: later it may come in as an input.
using GarbageShapes = std::set<std::pair<DType, ShapeId>>;

// garbage receives the shapes of ignored outputs and excuses the inputs that have them, until another output
// of that shape is bad.
OverflowState op_state(const DumpIndex& index, const std::vector<TensorState>& states, OpId op,
                       GarbageShapes& garbage);

}  // namespace ulpscope
