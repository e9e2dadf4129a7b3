// Operators of LibTorch by name: the overload whose schema takes the recorded values at the least cost of
// conversion is called through the dispatcher, autograd included. Used by the recipes and by direct calls of
// this plugin; knows no names of Python.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <utility>
#include <vector>

#include "values.hpp"

namespace ulpscope::torch_executor {

using Keywords = std::vector<std::pair<std::string, Value>>;

// The device on which this thread's calls make new tensors, whatever device was recorded.
void set_device(const c10::Device& device);

// Whether an operator of that name ("aten::linear") is registered, whatever its overloads. Any thread.
bool has_operator(const std::string& name);

// Calls the operator; several results become a tuple. Throws Failure (unsupported) when no overload takes the
// arguments, with what was given; whatever the operator throws passes through.
c10::IValue call_operator(const std::string& name, const std::vector<Value>& args, const Keywords& kwargs);

// The same; false, and nothing was called, when no overload takes the arguments.
bool try_operator(const std::string& name, const std::vector<Value>& args, const Keywords& kwargs,
                  c10::IValue& result);

// A result as an argument of the next step of a recipe.
Value from_result(const c10::IValue& result);

}  // namespace ulpscope::torch_executor
