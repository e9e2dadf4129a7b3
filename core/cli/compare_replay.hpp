// compare --replay: the culprits run again in float64 on both sides, and what came of it in their evidence.
#pragma once

#include "base/result.hpp"
#include "cli/context.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// Adds what each side's replay says to every culprit that is a call recorded on both sides. A call that
// cannot be run says why; an error is one of the executors themselves.
Status add_replays(Context& context, ResultTable& table);

}  // namespace ulpscope
