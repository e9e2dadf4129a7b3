// Says in one line each what a user should know about calls without a partner: filters or levels of the two
// dumps that differ. Used by match(). Pure.
#pragma once

#include <string>
#include <vector>

#include "match/op_pairing.hpp"

namespace ulpscope {

std::vector<std::string> filter_notices(const DumpIndex& target, const DumpIndex& golden,
                                        const OpPartners& partners);

// Whether an API is of the class that the collector's risk_level FOCUS leaves out: calls of shape, copy and
// creation. api is the name without prefix ("reshape", "zeros_like"), as in the type of an op.
bool is_shape_or_copy(std::string_view api);

}  // namespace ulpscope
