// Saves the tensors of an API that did not pass, as .pt files that torch reads. Used by the check.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "execute/call_inputs.hpp"
#include "plugin/outputs.hpp"

namespace ulpscope {

// Writes <id>.<direction>.input.<i>.pt, .output.bench.<i>.pt and .output.device.<i>.pt into folder, which is
// made; inputs are counted through, keywords after positions. A file that is there already (of an earlier run
// that was resumed) is left as it is. io.
Status save_error_data(const std::string& folder, std::string_view id, std::string_view direction,
                       const std::deque<HeldTensor>& inputs, const std::vector<OutputTensor>& golden,
                       const std::vector<OutputTensor>& device);

}  // namespace ulpscope
