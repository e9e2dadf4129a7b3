// JSON options on their way to a component.
#pragma once

#include <ulpscope/abi.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// The part of an options object that a component reads.
struct ComponentOptions {
  std::string json;                  // an object with the members that the component lists, in their order
  std::vector<std::string> dropped;  // names of the others
};

// Keeps the members of options_json (an object; empty text is an empty one) that listed names. A common
// option, say "steps", so reaches only the sources that know it. An option of type "list of int" may also be
// given as one number or as a text like "0,2-5", one of type "text" or "string" as a number. usage when the
// text is no JSON object. Any thread.
Result<ComponentOptions> options_for(std::string_view options_json,
                                     std::span<const ulpscope_option_desc> listed);

}  // namespace ulpscope
