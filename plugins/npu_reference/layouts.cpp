#include <Eigen/Dense>

#include "formulas.hpp"

namespace ulpscope::npu_reference {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Map = Eigen::Map<Matrix>;
using ConstMap = Eigen::Map<const Matrix>;

// All but the last dimension as the rows of a matrix.
ConstMap as_matrix(const Array& x) {
  if (x.shape.empty()) throw Failure(ULPSCOPE_E_USAGE, "expected a tensor with dimensions");
  const int64_t columns = x.dim(-1);
  return {x.v.data(), columns == 0 ? 0 : x.size() / columns, columns};
}

void check_inner(int64_t left, int64_t right) {
  if (left != right)
    throw Failure(ULPSCOPE_E_USAGE, "a product of " + std::to_string(left) + " columns with " +
                                        std::to_string(right) + " rows");
}

// x w^T + b.
std::vector<Array> linear(const Arguments& a) {
  const Array &x = a.array("input"), &w = a.array("weight");
  if (w.dims() != 2) throw Failure(ULPSCOPE_E_USAGE, "the weight of a linear layer has not two dimensions");
  check_inner(x.dims() == 0 ? -1 : x.dim(-1), w.dim(1));
  Shape shape = x.shape;
  shape.back() = w.dim(0);
  Array y = zeros(shape);
  Map(y.v.data(), as_matrix(x).rows(), w.dim(0)).noalias() = as_matrix(x) * as_matrix(w).transpose();
  if (a.has("bias"))
    y = mapped(y, broadcast(a.array("bias"), y.shape), [](double v, double b) { return v + b; });
  return {y};
}

// dx = dy w, dw = dy^T x, db = the sum of dy over the rows.
Gradients linear_gradients(const Array& dy, const Array& x, const Array& w) {
  const auto g = as_matrix(dy), from = as_matrix(x), weight = as_matrix(w);
  check_inner(g.cols(), weight.rows());
  check_inner(g.rows(), from.rows());
  Array dx = zeros(x.shape), dw = zeros(w.shape), db = zeros({w.dim(0)});
  Map(dx.v.data(), from.rows(), from.cols()).noalias() = g * weight;
  Map(dw.v.data(), weight.rows(), weight.cols()).noalias() = g.transpose() * from;
  Map(db.v.data(), 1, db.size()) = g.colwise().sum();
  return {{"input", dx}, {"weight", dw}, {"bias", db}};
}

// Permute, then view; or view, then permute.
std::vector<Array> confusion_transpose(const Arguments& a) {
  const Array& x = a.array("self");
  const auto order = a.integers("perm"), shape = a.integers("shape");
  if (a.flag_or("transpose_first", true)) return {reshaped(permuted(x, order), shape)};
  return {permuted(reshaped(x, shape), order)};
}

std::vector<int64_t> inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> out(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] < 0 || order[i] >= static_cast<int64_t>(order.size()))
      throw Failure(ULPSCOPE_E_USAGE, "a permutation names a dimension that is none");
    out[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return out;
}

// The gradient in the shape of the input.
Array confusion_transpose_gradient(const Array& dy, const std::vector<int64_t>& order, const Shape& target,
                                   bool transpose_first) {
  if (!transpose_first) return reshaped(permuted(dy, inverse(order)), target);
  Shape between;
  for (const int64_t axis : order) between.push_back(target.at(static_cast<size_t>(axis)));
  return permuted(reshaped(dy, between), inverse(order));
}

}  // namespace

void add_layouts(std::map<std::string, Formula>& table) {
  table["npu_linear"] = {{"input", "weight", "bias"}, linear, [](const Arguments& a) {
                           return linear_gradients(a.gradient(), a.array("input"), a.array("weight"));
                         }};
  table["npu_linear_backward"] = {{"grad", "input", "weight"},
                                  [](const Arguments& a) {
                                    const Gradients all = linear_gradients(a.array("grad"), a.array("input"),
                                                                           a.array("weight"));
                                    return std::vector<Array>{all.at("input"), all.at("weight")};
                                  },
                                  {}};
  table["npu_confusion_transpose"] = {
      {"self", "perm", "shape", "transpose_first"}, confusion_transpose, [](const Arguments& a) {
        const auto order = a.integers("perm");
        inverse(order);
        const Array& x = a.array("self");
        return Gradients{{"self", confusion_transpose_gradient(a.gradient(), order, x.shape,
                                                               a.flag_or("transpose_first", true))}};
      }};
  // As an operator of its own: shape is that of the input where the permutation came first, else the gradient
  // of the view takes it too.
  table["npu_confusion_transpose_backward"] = {
      {"grad", "perm", "shape", "transpose_first"},
      [](const Arguments& a) {
        const auto order = a.integers("perm");
        inverse(order);
        return std::vector<Array>{confusion_transpose_gradient(a.array("grad"), order, a.integers("shape"),
                                                               a.flag_or("transpose_first", true))};
      },
      {}};
}

}  // namespace ulpscope::npu_reference
