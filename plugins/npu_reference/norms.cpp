#include <algorithm>
#include <cmath>
#include <numeric>

#include "formulas.hpp"

namespace ulpscope::npu_reference {
namespace {

constexpr double kMasked = -10000;  // what a masked place of the scaled softmax holds

Array last_ones(const Array& x) {
  Shape shape = x.shape;
  shape.back() = 1;
  return zeros(shape);
}

// rstd = (mean of x^2 + eps)^(-1/2) over the last dimension; x rstd gamma.
std::vector<Array> rms_norm(const Arguments& a) {
  const Array& x = a.array("self");
  const Array gamma = broadcast(a.array("gamma"), x.shape);
  const double eps = a.number_or("eps", 1e-5);
  if (x.shape.empty()) throw Failure(ULPSCOPE_E_USAGE, "expected a tensor with dimensions");
  const auto length = static_cast<size_t>(x.dim(-1));
  Array y = zeros(x.shape), rstd = last_ones(x);
  for (size_t row = 0; row < rstd.v.size(); ++row) {
    double sum = 0;
    for (size_t i = 0; i < length; ++i) sum += x.v[row * length + i] * x.v[row * length + i];
    rstd.v[row] = 1 / std::sqrt(sum / static_cast<double>(length) + eps);
    for (size_t i = row * length; i < (row + 1) * length; ++i) y.v[i] = x.v[i] * rstd.v[row] * gamma.v[i];
  }
  return {y, rstd};
}

// m = mean of dy x gamma rstd; dx = (dy gamma - x rstd m) rstd; dgamma = sum of x dy rstd over the rows.
Gradients rms_norm_gradients(const Array& dy, const Array& x, const Array& gamma, const Array& rstd) {
  const auto length = static_cast<size_t>(x.dim(-1));
  if (dy.shape != x.shape || rstd.v.size() * length != x.v.size())
    throw Failure(ULPSCOPE_E_USAGE, "gradient, input and rstd do not fit together");
  const Array g = broadcast(gamma, x.shape);
  Array dx = zeros(x.shape), per_element = zeros(x.shape);
  for (size_t row = 0; row < rstd.v.size(); ++row) {
    double sum = 0;
    for (size_t i = row * length; i < (row + 1) * length; ++i) sum += dy.v[i] * x.v[i] * g.v[i] * rstd.v[row];
    const double mean = sum / static_cast<double>(length);
    for (size_t i = row * length; i < (row + 1) * length; ++i) {
      dx.v[i] = (dy.v[i] * g.v[i] - x.v[i] * rstd.v[row] * mean) * rstd.v[row];
      per_element.v[i] = x.v[i] * dy.v[i] * rstd.v[row];
    }
  }
  return {{"self", dx}, {"gamma", summed_to(per_element, gamma.shape)}};
}

// (x - mean) / sqrt(var + eps) weight + bias over the trailing dimensions.
std::vector<Array> layer_norm_eval(const Arguments& a) {
  const Array& x = a.array("input");
  size_t length = 1;
  const auto normalized = a.integers("normalized_shape");
  if (normalized.size() > x.shape.size())
    throw Failure(ULPSCOPE_E_USAGE, "normalized_shape has more dimensions than the input");
  for (size_t i = 0; i < normalized.size(); ++i)
    length *= static_cast<size_t>(x.shape[x.shape.size() - normalized.size() + i]);
  const double eps = a.number_or("eps", 1e-5);
  Array y = zeros(x.shape);
  for (size_t begin = 0; length > 0 && begin < x.v.size(); begin += length) {
    const auto* row = x.v.data() + begin;
    const double mean = std::accumulate(row, row + length, 0.0) / static_cast<double>(length);
    double var = 0;
    for (size_t i = 0; i < length; ++i) var += (row[i] - mean) * (row[i] - mean);
    const double scale = 1 / std::sqrt(var / static_cast<double>(length) + eps);
    for (size_t i = 0; i < length; ++i) y.v[begin + i] = (row[i] - mean) * scale;
  }
  if (a.has("weight"))
    y = mapped(y, broadcast(a.array("weight"), x.shape), [](double v, double w) { return v * w; });
  if (a.has("bias"))
    y = mapped(y, broadcast(a.array("bias"), x.shape), [](double v, double b) { return v + b; });
  return {y};
}

// Normalised in groups of channels, times gamma, plus beta, then v sigmoid(v); also mean and rstd of each
// group.
std::vector<Array> group_norm_silu(const Arguments& a) {
  const Array &x = a.array("input"), &gamma = a.array("weight"), &beta = a.array("bias");
  const int64_t groups = a.integer_or("group", 1);
  if (x.shape.size() < 2 || groups < 1 || x.shape[1] % groups != 0 || gamma.size() != x.shape[1] ||
      beta.size() != x.shape[1])
    throw Failure(ULPSCOPE_E_USAGE, "groups, weight and bias do not fit the channels of the input");
  const double eps = a.number_or("eps", 1e-5);
  Array y = zeros(x.shape), mean = zeros({x.shape[0], groups}), rstd = mean;
  const auto inner = static_cast<size_t>(rows_of(x, 1).inner);
  const auto channels = static_cast<size_t>(x.shape[1]);
  const size_t length = channels / static_cast<size_t>(groups) * inner;
  for (size_t group = 0; group < mean.v.size(); ++group) {
    const auto* from = x.v.data() + group * length;
    const double m = std::accumulate(from, from + length, 0.0) / static_cast<double>(length);
    double var = 0;
    for (size_t i = 0; i < length; ++i) var += (from[i] - m) * (from[i] - m);
    mean.v[group] = m;
    rstd.v[group] = 1 / std::sqrt(var / static_cast<double>(length) + eps);
    for (size_t i = 0; i < length; ++i) {
      const size_t channel = (group * length + i) / inner % channels;
      const double v = (from[i] - m) * rstd.v[group] * gamma.v[channel] + beta.v[channel];
      y.v[group * length + i] = v / (1 + std::exp(-v));
    }
  }
  return {y, mean, rstd};
}

// Softmax of one row in place.
void softmax(double* row, size_t length) {
  const double most = length == 0 ? 0 : *std::max_element(row, row + length);
  double sum = 0;
  for (size_t i = 0; i < length; ++i) sum += row[i] = std::exp(row[i] - most);
  for (size_t i = 0; i < length; ++i) row[i] /= sum;
}

// The places that are masked: by the tensor, or by the strict upper triangle of the last two dimensions.
std::vector<bool> masked_places(const Array& x, const Arguments& a) {
  std::vector<bool> masked(x.v.size());
  if (a.flag_or("fixed_triu_mask", false)) {
    if (x.shape.size() < 2) throw Failure(ULPSCOPE_E_USAGE, "a triangle needs two dimensions");
    const auto columns = static_cast<size_t>(x.dim(-1)), rows = static_cast<size_t>(x.dim(-2));
    for (size_t i = 0; i < masked.size(); ++i) masked[i] = i % columns > i / columns % rows;
  } else if (a.has("mask")) {
    const Array mask = broadcast(a.array("mask"), x.shape);
    for (size_t i = 0; i < masked.size(); ++i) masked[i] = mask.v[i] != 0;
  }
  return masked;
}

std::vector<Array> scaled_masked_softmax(const Arguments& a) {
  Array y = a.array("x");
  if (y.shape.empty()) throw Failure(ULPSCOPE_E_USAGE, "expected a tensor with dimensions");
  const double scale = a.number_or("scale", 1);
  const std::vector<bool> masked = masked_places(y, a);
  for (size_t i = 0; i < y.v.size(); ++i) y.v[i] = masked[i] ? kMasked : y.v[i] * scale;
  const auto length = static_cast<size_t>(y.dim(-1));
  for (size_t begin = 0; begin < y.v.size(); begin += length) softmax(y.v.data() + begin, length);
  return {y};
}

// (dy - sum of dy y) y scale, 0 where masked.
Array softmax_backward(const Arguments& a, const Array& dy, const Array& y) {
  if (dy.shape != y.shape || y.shape.empty())
    throw Failure(ULPSCOPE_E_USAGE, "gradient and output have different shapes");
  const double scale = a.number_or("scale", 1);
  const std::vector<bool> masked = masked_places(y, a);
  const auto length = static_cast<size_t>(y.dim(-1));
  Array dx = zeros(y.shape);
  for (size_t begin = 0; begin < y.v.size(); begin += length) {
    double sum = 0;
    for (size_t i = begin; i < begin + length; ++i) sum += dy.v[i] * y.v[i];
    for (size_t i = begin; i < begin + length; ++i)
      dx.v[i] = masked[i] ? 0 : (dy.v[i] - sum) * y.v[i] * scale;
  }
  return dx;
}

// p = softmax; its k largest in order, equal ones by their place; expert = their number where the row is
// finished.
std::vector<Array> moe_gating(const Arguments& a) {
  Array p = a.array("x");
  if (p.shape.empty()) throw Failure(ULPSCOPE_E_USAGE, "expected a tensor with dimensions");
  const auto experts = static_cast<size_t>(p.dim(-1));
  const int64_t k = a.integer_or("k", 1);
  if (k < 1 || static_cast<size_t>(k) > experts) throw Failure(ULPSCOPE_E_USAGE, "k is no number of experts");
  Shape shape = p.shape;
  shape.back() = k;
  Array y = zeros(shape), index = y, row_index = y;
  index.dtype = row_index.dtype = DType::i64;
  const size_t rows = experts == 0 ? 0 : p.v.size() / experts;
  const Array* finished = a.has("finished") ? &a.array("finished") : nullptr;
  if (finished != nullptr && finished->v.size() != rows)
    throw Failure(ULPSCOPE_E_USAGE, "finished has not one entry a row");
  std::vector<size_t> order(experts);
  for (size_t row = 0; row < rows; ++row) {
    double* from = p.v.data() + row * experts;
    softmax(from, experts);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t l, size_t r) { return from[l] > from[r]; });
    for (size_t j = 0; j < static_cast<size_t>(k); ++j) {
      const size_t to = row * static_cast<size_t>(k) + j;
      y.v[to] = from[order[j]];
      const bool done = finished != nullptr && finished->v[row] != 0;
      index.v[to] = static_cast<double>(done ? experts : order[j]);
      row_index.v[to] = static_cast<double>(j * rows + row);
    }
  }
  return {y, index, row_index};
}

// The elements of a dimension in order; NaN counts as the largest.
std::vector<Array> sort(const Arguments& a) {
  Array y = a.array("self");
  if (y.shape.empty()) return {y};
  const Rows rows = rows_of(y, dimension(y, a.integer_or("dim", -1)));
  const bool descending = a.flag_or("descending", false);
  std::vector<double> line(static_cast<size_t>(rows.length));
  const auto less = [](double l, double r) { return std::isnan(r) ? !std::isnan(l) : l < r; };
  for (int64_t outer = 0; outer < rows.outer; ++outer)
    for (int64_t inner = 0; inner < rows.inner; ++inner) {
      const auto place = [&](size_t i) {
        return static_cast<size_t>((outer * rows.length + static_cast<int64_t>(i)) * rows.inner + inner);
      };
      for (size_t i = 0; i < line.size(); ++i) line[i] = y.v[place(i)];
      std::sort(line.begin(), line.end(),
                [&](double l, double r) { return descending ? less(r, l) : less(l, r); });
      for (size_t i = 0; i < line.size(); ++i) y.v[place(i)] = line[i];
    }
  return {y};
}

}  // namespace

void add_norms(std::map<std::string, Formula>& table) {
  table["npu_rms_norm"] = {{"self", "gamma", "eps"}, rms_norm, [](const Arguments& a) {
                             return rms_norm_gradients(a.gradient(), a.array("self"), a.array("gamma"),
                                                       rms_norm(a)[1]);
                           }};
  table["npu_rms_norm_backward"] = {{"dy", "self", "gamma", "rstd"},
                                    [](const Arguments& a) {
                                      const Gradients all = rms_norm_gradients(
                                          a.array("dy"), a.array("self"), a.array("gamma"), a.array("rstd"));
                                      return std::vector<Array>{all.at("self"), all.at("gamma")};
                                    },
                                    {}};
  table["npu_layer_norm_eval"] = {
      {"input", "normalized_shape", "weight", "bias", "eps"}, layer_norm_eval, {}};
  table["npu_group_norm_silu"] = {{"input", "weight", "bias", "group", "eps"}, group_norm_silu, {}};
  table["npu_scaled_masked_softmax"] = {
      {"x", "mask", "scale", "fixed_triu_mask"}, scaled_masked_softmax, [](const Arguments& a) {
        return Gradients{{"x", softmax_backward(a, a.gradient(), scaled_masked_softmax(a)[0])}};
      }};
  table["npu_scaled_masked_softmax_backward"] = {
      {"y_grad", "y", "mask", "scale", "fixed_triu_mask"},
      [](const Arguments& a) {
        return std::vector<Array>{softmax_backward(a, a.array("y_grad"), a.array("y"))};
      },
      {}};
  table["npu_moe_gating_top_k_softmax"] = {{"x", "finished", "k"}, moe_gating, {}};
  table["npu_sort_v2"] = {{"self", "dim", "descending"}, sort, {}};
}

}  // namespace ulpscope::npu_reference
