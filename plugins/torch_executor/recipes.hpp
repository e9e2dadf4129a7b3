// From a name of Python to operators of LibTorch: by a table of recipes (aliases.json), by formulas for
// functions that Python itself composes, else straight to the operator of that name. Used by the executor.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

#include "values.hpp"

namespace ulpscope::torch_executor {

// How an API is run.
struct Route {
  bool known = false;
  bool random = false;  // its result depends on a generator: two devices cannot agree
  std::string why_not;  // when it is not known
};

// Reads the table once. Any thread.
Route find_route(const std::string& type, const std::string& name);

// Runs the call. Throws Failure: unsupported, with what is missing; usage, an argument that Python would
// refuse. What an operator throws passes through.
c10::IValue run_call(Call& call);

}  // namespace ulpscope::torch_executor
