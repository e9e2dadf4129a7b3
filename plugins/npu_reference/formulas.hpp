// The formulas of the fused operators of an NPU, forward and backward. Source: the published reference
// functions of the offline pre-check, with their known mistakes put right. Each is a pure function of its
// arguments.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "arrays.hpp"

namespace ulpscope::npu_reference {

// The gradients by argument.
using Gradients = std::map<std::string, Array>;

struct Formula {
  std::vector<std::string> parameters;
  std::function<std::vector<Array>(const Arguments&)> forward;
  std::function<Gradients(const Arguments&)> backward;  // empty: none
};

// By the name of the operator: "npu_rms_norm", and "npu_rms_norm_backward", which is an operator itself.
const std::map<std::string, Formula>& formulas();

// The parts of the table.
void add_elementwise(std::map<std::string, Formula>& table);  // elementwise.cpp
void add_norms(std::map<std::string, Formula>& table);        // norms.cpp
void add_layouts(std::map<std::string, Formula>& table);      // layouts.cpp
void add_optimizers(std::map<std::string, Formula>& table);   // optimizers.cpp
void add_attention(std::map<std::string, Formula>& table);    // attention.cpp

// x mapped element by element.
template <class F>
Array mapped(const Array& x, F f) {
  Array out = x;
  for (double& value : out.v) value = f(value);
  return out;
}

// Two tensors of one shape mapped together. Throws Failure (usage) when their shapes differ.
template <class F>
Array mapped(const Array& x, const Array& y, F f) {
  if (x.shape != y.shape) throw Failure(ULPSCOPE_E_USAGE, "two tensors of different shapes");
  Array out = x;
  for (size_t i = 0; i < out.v.size(); ++i) out.v[i] = f(x.v[i], y.v[i]);
  return out;
}

}  // namespace ulpscope::npu_reference
