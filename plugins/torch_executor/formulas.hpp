// Functions that Python composes of several operators, as LibTorch calls: each repeats what
// torch.nn.functional does, step by step. Used by the recipes.
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <map>
#include <string>

#include "values.hpp"

namespace ulpscope::torch_executor {

// The arguments of a call by the names of its parameters.
class Arguments {
 public:
  struct Parameter {
    std::string name;
    bool required = true;
    Value otherwise;
  };
  // Throws Failure (usage): an argument is missing, unknown or given twice.
  Arguments(const Call& call, const std::vector<Parameter>& parameters);

  Value& get(const std::string& name);
  bool has(const std::string& name) { return get(name).kind != Kind::none; }
  at::Tensor tensor(const std::string& name);
  double real(const std::string& name);
  int64_t integer(const std::string& name);
  bool flag(const std::string& name);
  std::string text(const std::string& name);
  // A list of count integers, or one integer for all of them.
  std::vector<int64_t> integers(const std::string& name, size_t count);
  const std::map<std::string, Value>& all() const { return values_; }

 private:
  std::map<std::string, Value> values_;
};

// A composed function: parameters as Python has them ("input", "dim=-1": defaults are JSON literals).
struct Formula {
  std::vector<Arguments::Parameter> parameters;
  std::function<c10::IValue(Arguments&)> run;
};

// The formula of "Functional.lp_pool2d"; null when there is none.
const Formula* find_formula(const std::string& api);

// "input" or "dim=-1" as a parameter.
Arguments::Parameter parameter(const std::string& text);

// Reads, or writes, elements by Python's index rules: x[i, 1:2, None, ..., mask].
at::Tensor get_item(const at::Tensor& tensor, const Value& index);
void set_item(const at::Tensor& tensor, const Value& index, const Value& value);

}  // namespace ulpscope::torch_executor
