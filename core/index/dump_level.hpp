// The level of a dump as its own header says it. Used where a dump is presented to people.
#pragma once

#include <string>

#include "index/dump_index.hpp"

namespace ulpscope {

// "L0", "L1", "mix", "debug", … as the dump.json (or debug.json) that is read first has it; where there is
// none, what the operations show: DumpIndex::level. Reads the head of one file; never fails.
std::string dump_level(const DumpIndex& index);

}  // namespace ulpscope
