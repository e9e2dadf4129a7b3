#include <cmath>

#include "formulas.hpp"

namespace ulpscope::npu_reference {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }
// s'(x) = s(x) (1 + x (1 - s(x))) with s the sigmoid.
double silu_slope(double x) {
  const double s = sigmoid(x);
  return s + x * (1 - s) * s;
}
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

// x e^(0.851 (x - |x|)) / (1 + e^(-1.702 |x|)).
double fast_gelu(double x) {
  return x * std::exp(0.851 * (x - std::fabs(x))) / (1 + std::exp(-1.702 * std::fabs(x)));
}
// (t + 1.702 x t + e^(1.702 (x - |x|))) / (t + 1)^2 with t = e^(-1.702 |x|).
double fast_gelu_slope(double x) {
  const double t = std::exp(-1.702 * std::fabs(x));
  return (t + 1.702 * x * t + std::exp(1.702 * (x - std::fabs(x)))) / ((t + 1) * (t + 1));
}
double mish(double x) { return x * std::tanh(softplus(x)); }
double mish_slope(double x) {
  const double t = std::tanh(softplus(x));
  return t + x * (1 - t * t) * sigmoid(x);
}

// Both halves of a dimension: visit(place of a, place of b, place in half a tensor).
template <class Visit>
void for_each_half(const Array& x, size_t dim, Visit visit) {
  const Rows rows = rows_of(x, dim);
  if (rows.length % 2 != 0) throw Failure(ULPSCOPE_E_USAGE, "a dimension of odd length cannot be halved");
  const int64_t half = rows.length / 2 * rows.inner;
  for (int64_t outer = 0; outer < rows.outer; ++outer)
    for (int64_t i = 0; i < half; ++i)
      visit(static_cast<size_t>(outer * 2 * half + i), static_cast<size_t>(outer * 2 * half + half + i),
            static_cast<size_t>(outer * half + i));
}

// silu(a) b with a, b the halves of x.
Array swiglu(const Array& x, int64_t dim) {
  const size_t axis = dimension(x, dim);
  Shape shape = x.shape;
  shape[axis] /= 2;
  Array out = zeros(shape);
  for_each_half(x, axis, [&](size_t a, size_t b, size_t to) { out.v[to] = silu(x.v[a]) * x.v[b]; });
  return out;
}

Array swiglu_backward(const Array& dy, const Array& x, int64_t dim) {
  const size_t axis = dimension(x, dim);
  Array out = zeros(x.shape);
  if (dy.size() * 2 != x.size())
    throw Failure(ULPSCOPE_E_USAGE, "the gradient has not half the elements of the input");
  for_each_half(x, axis, [&](size_t a, size_t b, size_t from) {
    out.v[a] = x.v[b] * silu_slope(x.v[a]) * dy.v[from];
    out.v[b] = dy.v[from] * silu(x.v[a]);
  });
  return out;
}

// concat(-x2, x1) with x1, x2 the halves of the last dimension; its transpose is concat(x2, -x1).
Array rotated(const Array& x, bool transposed) {
  Array out = zeros(x.shape);
  const double sign = transposed ? -1 : 1;
  for_each_half(x, dimension(x, -1), [&](size_t a, size_t b, size_t) {
    out.v[a] = -sign * x.v[b];
    out.v[b] = sign * x.v[a];
  });
  return out;
}

Array product(const Array& x, const Array& y) {
  return mapped(x, y, [](double a, double b) { return a * b; });
}
Array sum(const Array& x, const Array& y) {
  return mapped(x, y, [](double a, double b) { return a + b; });
}

void check_mode(const Arguments& a) {
  const std::string mode = a.text_or("rotary_mode", "half");
  if (mode != "half" && mode != "rotated_half")
    throw Failure(ULPSCOPE_E_UNSUPPORTED, "rotary_mode '" + mode.substr(0, 40) + "', expected half");
}

// A factor for every element of x; one of half the length holds for both halves.
Array factor(const Array& r, const Array& x) {
  if (r.dims() == 0 || x.dims() == 0 || r.dim(-1) * 2 != x.dim(-1)) return broadcast(r, x.shape);
  Shape shape = r.shape;
  shape.back() *= 2;
  Array twice = zeros(shape);
  for_each_half(twice, dimension(twice, -1),
                [&](size_t a, size_t b, size_t from) { twice.v[a] = twice.v[b] = r.v[from]; });
  return broadcast(twice, x.shape);
}

// The gradient of factor.
Array factor_gradient(const Array& dy, const Array& r, const Array& x) {
  if (r.dims() == 0 || x.dims() == 0 || r.dim(-1) * 2 != x.dim(-1)) return summed_to(dy, r.shape);
  Shape shape = dy.shape;
  shape.back() /= 2;
  Array halves = zeros(shape);
  for_each_half(dy, dimension(dy, -1),
                [&](size_t a, size_t b, size_t to) { halves.v[to] = dy.v[a] + dy.v[b]; });
  return summed_to(halves, r.shape);
}

// r1 x + r2 rotated(x).
std::vector<Array> rotary_mul(const Arguments& a) {
  check_mode(a);
  const Array& x = a.array("input");
  return {sum(product(factor(a.array("r1"), x), x), product(factor(a.array("r2"), x), rotated(x, false)))};
}

Gradients rotary_mul_gradients(const Arguments& a, const Array& dy) {
  check_mode(a);
  const Array &x = a.array("input"), &r1 = a.array("r1"), &r2 = a.array("r2");
  const Array through_r2 = product(factor(r2, x), dy);
  return {{"input", sum(product(factor(r1, x), dy), rotated(through_r2, true))},
          {"r1", factor_gradient(product(x, dy), r1, x)},
          {"r2", factor_gradient(product(rotated(x, false), dy), r2, x)}};
}

using Function = double (*)(double);

void add_activation(std::map<std::string, Formula>& table, const std::string& name, Function f,
                    Function slope) {
  table[name] = {
      {"input"},
      [f](const Arguments& a) { return std::vector<Array>{mapped(a.array("input"), f)}; },
      [slope](const Arguments& a) {
        return Gradients{{"input", mapped(a.array("input"), a.gradient(),
                                          [slope](double x, double dy) { return dy * slope(x); })}};
      }};
}

}  // namespace

void add_elementwise(std::map<std::string, Formula>& table) {
  add_activation(table, "npu_fast_gelu", fast_gelu, fast_gelu_slope);
  add_activation(table, "fast_gelu", fast_gelu, fast_gelu_slope);
  add_activation(table, "npu_mish", mish, mish_slope);
  table["npu_fast_gelu_backward"] = {
      {"grad", "input"},
      [](const Arguments& a) {
        return std::vector<Array>{mapped(a.array("input"), a.array("grad"),
                                         [](double x, double dy) { return dy * fast_gelu_slope(x); })};
      },
      {}};
  table["npu_swiglu"] = {
      {"input", "dim"},
      [](const Arguments& a) {
        return std::vector<Array>{swiglu(a.array("input"), a.integer_or("dim", -1))};
      },
      [](const Arguments& a) {
        return Gradients{{"input", swiglu_backward(a.gradient(), a.array("input"), a.integer_or("dim", -1))}};
      }};
  table["npu_swiglu_backward"] = {{"grad", "input", "dim"},
                                  [](const Arguments& a) {
                                    return std::vector<Array>{swiglu_backward(
                                        a.array("grad"), a.array("input"), a.integer_or("dim", -1))};
                                  },
                                  {}};
  table["npu_rotary_mul"] = {{"input", "r1", "r2", "rotary_mode"}, rotary_mul, [](const Arguments& a) {
                               return rotary_mul_gradients(a, a.gradient());
                             }};
  table["npu_rotary_mul_backward"] = {
      {"grad", "input", "r1", "r2"},
      [](const Arguments& a) {
        const Gradients all = rotary_mul_gradients(a, a.array("grad"));
        return std::vector<Array>{all.at("input"), all.at("r1"), all.at("r2")};
      },
      {}};
}

}  // namespace ulpscope::npu_reference
