// The arguments of a recorded call as values of LibTorch: tensors, numbers, texts, lists and the small types
// that Python passes (dtype, slice, memory format). Read from an op record, changed by the rules of
// precision, and matched against operators. Used by the sources of this plugin only; one thread owns a call.
#pragma once

#include <ATen/ATen.h>

#include <ulpscope/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ulpscope::torch_executor {

enum class Kind {
  none,
  boolean,
  integer,
  real,
  text,
  tensor,
  list,
  slice,  // items: start, stop, step
  ellipsis,
  dtype,
  device,
  memory_format,
  unknown,  // text says what the dump has in its place
};

struct Value {
  Kind kind = Kind::none;
  bool truth = false;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  at::Tensor tensor;
  std::vector<Value> items;
  at::ScalarType dtype = at::kFloat;

  bool is_number() const { return kind == Kind::integer || kind == Kind::real || kind == Kind::boolean; }
  double as_double() const {
    return kind == Kind::real ? real : kind == Kind::boolean ? (truth ? 1 : 0) : static_cast<double>(integer);
  }
  at::Scalar as_scalar() const;
};

Value of(bool truth);
Value of(int64_t integer);
Value of(double real);
Value of(const char* text);
Value of(at::Tensor tensor);
Value of(at::ScalarType dtype);
Value of(std::vector<Value> items);
Value of(const std::vector<int64_t>& integers);

struct Call {
  std::string type;  // "Functional"
  std::string name;  // "linear", "linalg.norm"
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> kwargs;

  // A keyword argument; null when there is none of that name.
  Value* keyword(const std::string& keyword_name);
};

// A tensor argument of a call and what the dump says of its gradient, in the order of the call.
struct TensorPlace {
  Value* value = nullptr;
  std::string path;  // "0", "1.0", "weight"
  bool is_keyword = false;
  bool wants_gradient = false;
};

// The call that op records; tensors are copies of inputs (roles input and kwarg), found by role and path.
// Throws Failure: format, the argument tree is broken; usage, a tensor that it names is not among the inputs;
// unsupported, an element type that LibTorch has not.
Call read_call(const ulpscope_op_record& op, const ulpscope_tensor* inputs, uint32_t input_count);

// Every tensor of the call with the gradient flag of its input. Valid while the call is not changed.
std::vector<TensorPlace> tensor_places(Call& call, const ulpscope_tensor* inputs, uint32_t input_count);

// A dense CPU tensor with the elements of view; the 8-bit floats become float32. Throws Failure
// (unsupported).
at::Tensor to_tensor(const ulpscope_tensor& input);

// The element type of that name ("torch.float16"); nothing for one that LibTorch has not.
std::optional<at::ScalarType> scalar_type(const std::string& name);
std::optional<at::ScalarType> scalar_type(DType dtype);
DType dtype_of(at::ScalarType type);

// What stands for the value in a message: "tensor float32 [2, 3]", "int 5".
std::string describe(const Value& value);

// A literal of JSON (null, bool, number, text, list, {"type", "value"}) as text, for the table of recipes.
// Throws Failure (format).
Value read_literal(const std::string& json_text);

}  // namespace ulpscope::torch_executor
