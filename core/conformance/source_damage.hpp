// The check that reads damaged copies of a sample. Apart from the other checks of sources, because each copy
// is read in a process of its own.
#pragma once

#include "conformance/check.hpp"

namespace ulpscope {

void check_damage(const CheckSubject& subject, CheckFindings& report);

}  // namespace ulpscope
