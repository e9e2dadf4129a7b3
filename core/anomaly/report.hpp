// The answer of anomaly as JSON and as text. Used by the command. Finds nothing.
#pragma once

#include <string>

#include "anomaly/anomaly.hpp"

namespace ulpscope {

// {"schema": "ulpscope.anomaly/1", …}
std::string json_of(const AnomalyReport& report);
// At most most_outputs of the outputs that were not only cut off, then the counts and what to look at first.
std::string text_of(const AnomalyReport& report, size_t most_outputs);

}  // namespace ulpscope
