// Tensors in double and the arguments of a fused operator, for formulas that are written once, in the order
// of the mathematics. Small sizes and clear loops; matrix products are Eigen's. Used by this plugin only.
#pragma once

#include <ulpscope/plugin.hpp>

#include <map>
#include <string>
#include <vector>

namespace ulpscope::npu_reference {

// Dense and row-major. dtype is that of the recorded tensor, or f64 of a result.
struct Array {
  DType dtype = DType::f64;
  Shape shape;
  std::vector<double> v;

  int64_t dims() const { return static_cast<int64_t>(shape.size()); }
  int64_t size() const { return static_cast<int64_t>(v.size()); }
  // The length of a dimension, counted from the end when negative.
  int64_t dim(int64_t i) const { return shape[static_cast<size_t>(i < 0 ? i + dims() : i)]; }
};

Array zeros(const Shape& shape);
// The same elements under another shape. Throws Failure (usage) when their number differs.
Array reshaped(const Array& x, const Shape& shape);
Array permuted(const Array& x, const std::vector<int64_t>& order);
// Repeated along dimensions of length 1, leading ones added. Throws Failure (usage) when it does not fit.
Array broadcast(const Array& x, const Shape& shape);
// The sum over the dimensions along which shape has length 1 and x has not: the gradient of broadcast.
Array summed_to(const Array& x, const Shape& shape);
// A dimension counted from the front. Throws Failure (usage) when there is none.
size_t dimension(const Array& x, int64_t dim);
// x as [outer, length of dim, inner].
struct Rows {
  int64_t outer = 1, length = 1, inner = 1;
};
Rows rows_of(const Array& x, size_t dim);

// An argument: a tensor, a number, a text, a list, or none.
struct Argument {
  enum class Kind { none, number, text, array, list };
  Kind kind = Kind::none;
  double number = 0;
  std::string text;
  Array array;
  std::vector<Argument> items;
  std::string path;  // of a tensor, as the executor's caller names it: "input.0", "kwarg.mask"
  bool wants_gradient = false;
};

// The arguments by the names of the operator's parameters. Members throw Failure (usage) with the name of the
// argument and what was expected.
class Arguments {
 public:
  // names: parameters in order. aliases: other names of a keyword ("epsilon" for "eps").
  Arguments(const ulpscope_op_record& op, const ulpscope_tensor* inputs, uint32_t count,
            const std::vector<std::string>& names, const std::map<std::string, std::string>& aliases);

  const Argument& get(const std::string& name) const;
  bool has(const std::string& name) const { return get(name).kind != Argument::Kind::none; }
  const Array& array(const std::string& name) const;
  double number(const std::string& name) const;
  double number_or(const std::string& name, double otherwise) const;
  int64_t integer_or(const std::string& name, int64_t otherwise) const;
  bool flag_or(const std::string& name, bool otherwise) const;
  std::string text_or(const std::string& name, const std::string& otherwise) const;
  std::vector<int64_t> integers(const std::string& name) const;
  // The type in which results are given: float32 for inputs of 16 bits, float64 for all others.
  DType golden_type() const { return golden_type_; }
  // The gradient that was given for output 0. Throws Failure (usage) when there is none.
  const Array& gradient() const;

 private:
  std::map<std::string, Argument> values_;
  Argument none_, gradient_;
  DType golden_type_ = DType::f64;
};

// The plain last segment of an API's record: "NPU.npu_mish.0.forward" gives "npu_mish".
std::string operator_name(const ulpscope_op_record& op);

}  // namespace ulpscope::npu_reference
