#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "formulas.hpp"

namespace ulpscope::npu_reference {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Map = Eigen::Map<Matrix>;
using ConstMap = Eigen::Map<const Matrix>;

constexpr double kMaskedScore = -40000;  // added where a place is masked
constexpr int64_t kEverything = 2147483647;
constexpr int64_t kCompressedMask = 2048;  // length of the triangle that stands for a mask of any size
constexpr int64_t kStatisticColumns = 8;   // in which the row maxima and sums are repeated

// Tensors as batch, heads, sequence, head size; how to get there and back.
//   BNSD  as it is        BSND  sequence before heads
//   BSH   [B, S, N D]     SBH   [S, B, N D]
Array to_heads(const Array& x, const std::string& layout, int64_t heads) {
  if (layout == "BNSD" || layout == "BSND") {
    if (x.dims() != 4) throw Failure(ULPSCOPE_E_USAGE, "layout " + layout + ", expected four dimensions");
    return layout == "BNSD" ? x : permuted(x, {0, 2, 1, 3});
  }
  if (layout != "BSH" && layout != "SBH")
    throw Failure(ULPSCOPE_E_UNSUPPORTED,
                  "layout '" + layout.substr(0, 20) + "', expected BSH, SBH, BSND or BNSD");
  if (x.dims() != 3 || heads < 1 || x.dim(2) % heads != 0)
    throw Failure(ULPSCOPE_E_USAGE, "layout " + layout + ", expected three dimensions and whole heads");
  const Array split = reshaped(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads});
  return layout == "BSH" ? permuted(split, {0, 2, 1, 3}) : permuted(split, {1, 2, 0, 3});
}

Array from_heads(const Array& x, const std::string& layout) {
  if (layout == "BNSD") return x;
  if (layout == "BSND") return permuted(x, {0, 2, 1, 3});
  const Array moved =
      permuted(x, layout == "BSH" ? std::vector<int64_t>{0, 2, 1, 3} : std::vector<int64_t>{2, 0, 1, 3});
  return reshaped(moved, {moved.dim(0), moved.dim(1), moved.dim(2) * moved.dim(3)});
}

struct Problem {
  std::string layout;
  Array q, k, v;  // as heads
  int64_t batch = 0, heads = 0, kv_heads = 0, rows = 0, columns = 0, size = 0;
  double scale = 1;
  std::vector<bool> masked;  // batch, heads, rows, columns; empty: nothing is
  Array bias;                // the same; empty: none

  int64_t group() const { return heads / kv_heads; }
  size_t query_at(int64_t b, int64_t n) const { return static_cast<size_t>((b * heads + n) * rows * size); }
  // Query heads share the key head j = n / group.
  size_t key_at(int64_t b, int64_t n) const {
    return static_cast<size_t>((b * kv_heads + n / group()) * columns * size);
  }
  size_t score_at(int64_t b, int64_t n) const {
    return static_cast<size_t>((b * heads + n) * rows * columns);
  }
};

// Whether a place is masked when only a rule is given. 2: above the diagonal; 3: above the one that ends in
// the lower right corner; others: outside the band from r - before to r + after.
bool masked_by_rule(int64_t mode, int64_t r, int64_t c, const Problem& p, int64_t before, int64_t after) {
  if (mode == 1) return false;
  if (mode == 2) return c > r;
  if (mode == 3) return c >= r + p.columns - p.rows + 1;
  return c > r + after || c < r - before;
}

void set_mask(const Arguments& a, Problem& p) {
  const int64_t mode = a.integer_or("sparse_mode", 0);
  const int64_t before = a.integer_or("pre_tockens", kEverything),
                after = a.integer_or("next_tockens", kEverything);
  const Shape scores = {p.batch, p.heads, p.rows, p.columns};
  const bool given = a.has("atten_mask");
  const bool compressed = given && mode >= 2 && a.array("atten_mask").dims() >= 2 &&
                          a.array("atten_mask").dim(-1) == kCompressedMask &&
                          a.array("atten_mask").dim(-2) == kCompressedMask;
  p.masked.resize(static_cast<size_t>(p.batch * p.heads * p.rows * p.columns));
  if (given && !compressed) {
    const Array mask = broadcast(a.array("atten_mask"), scores);
    for (size_t i = 0; i < p.masked.size(); ++i) p.masked[i] = mask.v[i] != 0;
    return;
  }
  size_t at = 0;
  for (int64_t head = 0; head < p.batch * p.heads; ++head)
    for (int64_t r = 0; r < p.rows; ++r)
      for (int64_t c = 0; c < p.columns; ++c) p.masked[at++] = masked_by_rule(mode, r, c, p, before, after);
}

Problem read_problem(const Arguments& a) {
  Problem p;
  p.layout = a.text_or("input_layout", "");
  if (a.number_or("keep_prob", 1) != 1)
    throw Failure(ULPSCOPE_E_UNSUPPORTED, "attention with dropout (keep_prob) is random");
  const int64_t heads = a.integer_or("head_num", 0);
  p.q = to_heads(a.array("query"), p.layout, heads);
  p.batch = p.q.dim(0);
  p.heads = p.q.dim(1);
  p.rows = p.q.dim(2);
  p.size = p.q.dim(3);
  const Array& key = a.array("key");
  const int64_t kv_heads = key.dims() == 3 && p.size > 0 ? key.dim(2) / p.size : 0;
  p.k = to_heads(key, p.layout, kv_heads);
  p.v = to_heads(a.array("value"), p.layout, kv_heads);
  p.kv_heads = p.k.dim(1);
  p.columns = p.k.dim(2);
  if (p.k.dim(0) != p.batch || p.k.dim(3) != p.size || p.v.shape != p.k.shape || p.kv_heads < 1 ||
      p.heads % p.kv_heads != 0)
    throw Failure(ULPSCOPE_E_USAGE, "query, key and value do not fit together");
  p.scale = a.number_or("scale", 1 / std::sqrt(static_cast<double>(p.size)));
  set_mask(a, p);
  if (a.has("pse")) p.bias = broadcast(a.array("pse"), {p.batch, p.heads, p.rows, p.columns});
  return p;
}

// The probabilities of one head: softmax of (q k^T + pse) scale, masked places lowered; row maxima and sums
// too.
Matrix probabilities(const Problem& p, int64_t b, int64_t n, double* most, double* sums) {
  Matrix s = ConstMap(p.q.v.data() + p.query_at(b, n), p.rows, p.size) *
             ConstMap(p.k.v.data() + p.key_at(b, n), p.columns, p.size).transpose();
  const size_t at = p.score_at(b, n);
  for (int64_t i = 0; i < s.size(); ++i) {
    double& score = s.data()[i];
    const size_t place = at + static_cast<size_t>(i);
    if (!p.bias.v.empty()) score += p.bias.v[place];
    score *= p.scale;
    if (p.masked[place]) score += kMaskedScore;
  }
  for (int64_t r = 0; r < p.rows; ++r) {
    const double highest = s.row(r).maxCoeff();
    s.row(r) = (s.row(r).array() - highest).exp();
    const double sum = s.row(r).sum();
    s.row(r) /= sum;
    if (most != nullptr) most[r] = highest;
    if (sums != nullptr) sums[r] = sum;
  }
  return s;
}

std::vector<Array> fusion_attention(const Arguments& a) {
  const Problem p = read_problem(a);
  Array y = zeros(p.q.shape), most = zeros({p.batch, p.heads, p.rows, kStatisticColumns}), sums = most;
  if (p.columns == 0) throw Failure(ULPSCOPE_E_USAGE, "attention over no keys");
  std::vector<double> highest(static_cast<size_t>(p.rows)), totals(static_cast<size_t>(p.rows));
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t n = 0; n < p.heads; ++n) {
      const Matrix weights = probabilities(p, b, n, highest.data(), totals.data());
      Map(y.v.data() + p.query_at(b, n), p.rows, p.size).noalias() =
          weights * ConstMap(p.v.v.data() + p.key_at(b, n), p.columns, p.size);
      for (int64_t r = 0; r < p.rows; ++r)
        for (int64_t c = 0; c < kStatisticColumns; ++c) {
          const auto at = static_cast<size_t>(((b * p.heads + n) * p.rows + r) * kStatisticColumns + c);
          most.v[at] = highest[static_cast<size_t>(r)];
          sums.v[at] = totals[static_cast<size_t>(r)];
        }
    }
  return {from_heads(y, p.layout), most, sums};
}

// dP = dy v^T, dS = (dP - sum(dP p)) p scale; dq = dS k, dk = dS^T q, dv = p^T dy, summed over grouped heads.
Gradients attention_gradients(const Arguments& a, const Array& dy) {
  const Problem p = read_problem(a);
  const Array g = to_heads(dy, p.layout, p.heads);
  if (g.shape != p.q.shape) throw Failure(ULPSCOPE_E_USAGE, "the gradient has another shape than the query");
  if (p.columns == 0) throw Failure(ULPSCOPE_E_USAGE, "attention over no keys");
  Array dq = zeros(p.q.shape), dk = zeros(p.k.shape), dv = dk;
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t n = 0; n < p.heads; ++n) {
      const Matrix weights = probabilities(p, b, n, nullptr, nullptr);
      const ConstMap grad(g.v.data() + p.query_at(b, n), p.rows, p.size);
      const ConstMap q(p.q.v.data() + p.query_at(b, n), p.rows, p.size);
      const ConstMap k(p.k.v.data() + p.key_at(b, n), p.columns, p.size);
      const ConstMap v(p.v.v.data() + p.key_at(b, n), p.columns, p.size);
      Matrix ds = grad * v.transpose();
      const Eigen::VectorXd inner = ds.cwiseProduct(weights).rowwise().sum();
      ds = (ds.colwise() - inner).cwiseProduct(weights) * p.scale;
      Map(dq.v.data() + p.query_at(b, n), p.rows, p.size).noalias() = ds * k;
      Map(dk.v.data() + p.key_at(b, n), p.columns, p.size).noalias() += ds.transpose() * q;
      Map(dv.v.data() + p.key_at(b, n), p.columns, p.size).noalias() += weights.transpose() * grad;
    }
  return {{"query", from_heads(dq, p.layout)},
          {"key", from_heads(dk, p.layout)},
          {"value", from_heads(dv, p.layout)}};
}

}  // namespace

void add_attention(std::map<std::string, Formula>& table) {
  table["npu_fusion_attention"] = {
      {"query", "key", "value", "head_num", "input_layout", "pse", "padding_mask", "atten_mask", "scale",
       "keep_prob", "pre_tockens", "next_tockens", "inner_precise", "prefix", "actual_seq_qlen",
       "actual_seq_kvlen", "sparse_mode"},
      fusion_attention,
      [](const Arguments& a) { return attention_gradients(a, a.gradient()); }};
  table["npu_fusion_attention_grad"] = {
      {"query",        "key",          "value",      "dy",          "head_num",        "input_layout",
       "pse",          "padding_mask", "atten_mask", "softmax_max", "softmax_sum",     "softmax_in",
       "attention_in", "scale",        "keep_prob",  "pre_tockens", "next_tockens",    "inner_precise",
       "seed",         "offset",       "numels",     "prefix",      "actual_seq_qlen", "actual_seq_kvlen",
       "sparse_mode"},
      [](const Arguments& a) {
        const Gradients all = attention_gradients(a, a.array("dy"));
        return std::vector<Array>{all.at("query"), all.at("key"), all.at("value")};
      },
      {}};
}

const std::map<std::string, Formula>& formulas() {
  static const std::map<std::string, Formula> table = [] {
    std::map<std::string, Formula> made;
    add_elementwise(made);
    add_norms(made);
    add_layouts(made);
    add_optimizers(made);
    add_attention(made);
    return made;
  }();
  return table;
}

}  // namespace ulpscope::npu_reference
