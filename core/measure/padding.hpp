// Outputs that end in rows without meaning: grouped operations on accelerators fill a buffer of fixed size
// and say in an argument how many rows count. The measuring blanks the rest on both sides. Used by the
// measuring only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "index/dump_index.hpp"

namespace ulpscope {

// What the message of a row says whose padding was left out.
constexpr std::string_view kPaddingMessage = "are padding and not compared";

// The number of leading rows (dimension 0) of an output that count: the sum of the argument that says it.
// Absent where the op is none of these, the item is no output, or every row counts. io/format: that argument
// cannot be read.
Result<std::optional<int64_t>> valid_rows(const DumpIndex& index, ItemId item);

}  // namespace ulpscope
