// What of --step, --rank and --filter fits nothing of a dump, and what there is instead. Used where a command
// opens a dump by those options; a look at what was left out needs a second scan, so it is taken only where
// something was asked for that the index does not have.
#pragma once

#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "index/dump_index.hpp"
#include "plugin/handles.hpp"

namespace ulpscope {

// Whether each step and rank of the filter is in the index, and its pattern fits an operation. A dump without
// numbers of steps or ranks serves each of them. Pure.
bool fits_in_full(const DumpIndex& index, const ScanFilter& filter);

// A sentence for each option that asks for something that is not there: "option --step: the dump has no step
// 9, it has steps 0-3". whole: the same dump opened without steps and ranks, not scanned yet. Empty where the
// dump holds nothing at all. Errors are those of the scan.
Result<std::vector<std::string>> unmet_wishes(const DumpIndex& index, const ScanFilter& filter,
                                              SourceHandle whole, const Cancel& cancel);

}  // namespace ulpscope
