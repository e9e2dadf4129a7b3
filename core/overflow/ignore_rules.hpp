// Which tensors may hold NaN or infinity without anything being wrong: memory that was never written, and
// buffers that a collective is about to overwrite. A table with reasons, so that a user can see why something
// was not reported. Pure.
#pragma once

#include <string_view>

#include "index/dump_index.hpp"

namespace ulpscope {

// Why a tensor of that op says nothing; empty: it counts. type is the operation alone ("all_gather"), path
// the place within the role ("0", "0.1", "output_tensor").
std::string_view ignore_reason(std::string_view type, Role role, std::string_view path);

}  // namespace ulpscope
