// Which recorded gradient is that of which argument. Hooks on a module record one gradient for each argument;
// hooks on the last node of the graph record what that node passes on, in its own order (a linear layer:
// bias, input, transposed weight). A dump does not say which of them wrote it. Used by the check of recorded
// devices.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "execute/check_plan.hpp"
#include "execute/recorded_outputs.hpp"

namespace ulpscope {

struct GradientPair {
  size_t number = 0;  // of the row
  const OutputTensor* golden = nullptr;
  const OutputTensor* recorded = nullptr;
};

// The path under which an executor gives the gradient of an argument: "input.0", "kwarg.weight".
std::string gradient_path(Role role, std::string_view path);

// Every assignment under which each recorded gradient has a golden one of its shape: by the positions of the
// arguments, by the order of the tensors among them, by the positions of the node ("node.0"). Pointers into
// both lists.
std::vector<std::vector<GradientPair>> pair_recorded_gradients(
    const DumpIndex& index, const CheckItem& item, const std::vector<OutputTensor>& golden,
    const std::vector<std::optional<RecordedOutput>>& recorded);

}  // namespace ulpscope
