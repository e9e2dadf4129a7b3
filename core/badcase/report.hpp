// The answer of badcase as JSON and as text. Used by the command. Ranks nothing.
#pragma once

#include <string>

#include "badcase/badcase.hpp"

namespace ulpscope {

// {"schema": "ulpscope.badcase/1", …}; with_first_token: each row has the answer of first-token-diff.
std::string json_of(const BadcaseReport& report, bool with_first_token);
std::string text_of(const BadcaseReport& report, bool with_first_token);

}  // namespace ulpscope
