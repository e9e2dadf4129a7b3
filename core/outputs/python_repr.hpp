// A value as Python prints it, turned into JSON text, so that what reads JSON reads prints too. Used for
// RequestOutput prints in logs. Runs nothing: names and calls are texts and objects.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ulpscope {

// Name(a=1, b=…) becomes {"a": 1, "b": …}, its arguments without a name "0", "1", …; array('l', […]) and
// array([…]) become the list; tuples, lists and sets become lists; dictionaries objects; 'texts' and bytes
// texts; None null. A bare word (finish_reason=stop) and anything in <> becomes a text. format: a text or
// bracket that does not end, or over 64 levels; with the byte. Any thread.
Result<std::string> json_of_repr(std::string_view repr);

}  // namespace ulpscope
