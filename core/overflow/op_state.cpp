#include "overflow/op_state.hpp"

#include "overflow/collectives.hpp"
#include "overflow/ignore_rules.hpp"

namespace ulpscope {
namespace {

void keep_first(ItemId& slot, bool condition, ItemId item) {
  if (condition && slot == kNoIndex) slot = item;
}

void add(SideState& side, const TensorState& state, ItemId item) {
  if (state.inf()) side.mask = (side.inf ? side.mask : true) && state.like_mask();
  keep_first(side.nan_item, state.nan, item);
  keep_first(side.inf_item, state.inf(), item);
  keep_first(side.possible_item, state.only_mean_or_norm, item);
  keep_first(side.limit_item, state.limit, item);
  side.nan |= state.nan;
  side.inf |= state.inf();
  side.positive_inf |= state.positive_inf;
  side.only_mean_or_norm |= state.only_mean_or_norm;
  side.limit |= state.limit;
  side.unknown |= !state.known;
}

}  // namespace

OverflowState op_state(const DumpIndex& index, const std::vector<TensorState>& states, OpId op,
                       GarbageShapes& garbage) {
  OverflowState result;
  const OpRow& row = index.ops()[op];
  const std::string_view type = index.text(row.type);
  const bool inputs_overwritten = overwrites_inputs(index, op);
  for (ItemId id = row.first_item; id < row.first_item + row.item_count; ++id) {
    const ItemRow& item = index.items()[id];
    const bool is_output = item.role == Role::output || item.role == Role::gradient;
    if (item.tensor == kNoIndex) {
      const TensorState state = state_of_value(index.text(item.value));
      if (is_output || index.text(item.type) == "str") continue;
      keep_first(result.nan_argument, state.nan, id);
      add(result.arguments, state, id);
      continue;
    }
    const TensorState& state = states[item.tensor];
    const TensorRow& tensor = index.tensors()[item.tensor];
    result.bad_tensors += state.bad() ? 1 : 0;
    const std::pair<DType, ShapeId> shape{tensor.dtype, tensor.shape};
    const bool excused = !is_output && (inputs_overwritten || garbage.find(shape) != garbage.end());
    if (excused || !ignore_reason(type, item.role, index.text(item.path)).empty()) {
      if (is_output && state.bad()) garbage.insert(shape);
      result.ignored += state.bad() ? 1 : 0;
      continue;
    }
    // From now on an input like this stems from here, not from memory that was never written.
    if (is_output && state.bad()) garbage.erase(shape);
    add(is_output ? result.outputs : result.inputs, state, id);
  }
  return result;
}

}  // namespace ulpscope
