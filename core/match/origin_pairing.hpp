// Pairs tensors of compiled models by what they are in the original model: the key that a record carries
// (ulpscope_tensor_record::origin), whatever operators were fused, split or put in by the compiler. The
// golden side carries such keys too, or is a folder of files named {operator}.{output}.{timestamp}. Used by
// match(). Pure.
#pragma once

#include <span>

#include "match/matcher.hpp"

namespace ulpscope {

// Whether the records of the two dumps can be paired by origin.
bool pairs_by_origin(const DumpIndex& target, const DumpIndex& golden);

// All pairs of two such dumps. An operator that stands for none of the original model (an inserted cast)
// takes no part; a notice counts them.
PairList match_by_origin(const DumpIndex& target, const DumpIndex& golden);

}  // namespace ulpscope
