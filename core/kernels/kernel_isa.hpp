// Which instruction set the kernels use. Chosen once for the process: the best that the machine has, or what
// ULPSCOPE_KERNELS names. The results are the same bits for all of them; forcing one is for tests and for
// doubts.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// The set in use: "base", "avx2", "avx512" or "neon". Any thread.
std::string_view kernel_isa();

// The sets that this machine can run, slowest first. Any thread.
std::vector<std::string_view> kernel_isas();

// Uses the named set for kernels chosen from now on; an empty name stands for the best. usage: a name that is
// unknown or that the machine cannot run; then the best is in use. Any thread.
Status set_kernel_isa(std::string_view name);

// set_kernel_isa with the environment variable ULPSCOPE_KERNELS. Without this call the variable is honoured
// too, at the first use of a kernel, but an unusable name then goes unreported.
Status set_kernel_isa_from_environment();

}  // namespace ulpscope
