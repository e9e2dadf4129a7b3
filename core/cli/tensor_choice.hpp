// Finds the one tensor that the user named. Used by show. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "index/dump_index.hpp"

namespace ulpscope {

// The tensor of that name: "OP TENSOR" or "OP.TENSOR" as list prints them, the name of an op that has a
// single tensor, or a glob over "OP TENSOR" that fits one. An empty name means the only tensor of the dump.
// usage: none fits (with the nearest name) or several do (with the first of them).
Result<ItemId> choose_tensor(const DumpIndex& index, const std::string& name);

}  // namespace ulpscope
