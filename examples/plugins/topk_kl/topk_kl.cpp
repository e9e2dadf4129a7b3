// A judgement for logits: the Kullback-Leibler divergence of the softmax over the last dimension, and how
// many of the k most likely entries agree (README.md).
#include <ulpscope/elementwise.hpp>
#include <ulpscope/plugin.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr size_t kMostElements = size_t{1} << 24;  // kept in memory: rows need not end where chunks do
constexpr size_t kTop = 5;

// Natural logarithms of the softmax of n numbers.
std::vector<double> log_softmax(const double* row, size_t n) {
  const double largest = *std::max_element(row, row + n);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::exp(row[i] - largest);
  std::vector<double> logs(n);
  for (size_t i = 0; i < n; ++i) logs[i] = row[i] - largest - std::log(sum);
  return logs;
}

// Indices of the largest entries, the first of equal ones first, in order of index.
std::vector<size_t> top(const double* row, size_t n) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t count = std::min(kTop, n);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [row](size_t a, size_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

class TopkKlMeasure final : public ulpscope::Measure {
 public:
  explicit TopkKlMeasure(size_t row_size) : row_size_(row_size) {}

  void consume(const ulpscope_view& actual, const ulpscope_view& golden) override {
    ulpscope::visit_blocks(actual, golden, [this](const ulpscope::PairBlock& block) {
      actual_.insert(actual_.end(), block.actual, block.actual + block.count);
      golden_.insert(golden_.end(), block.golden, block.golden + block.count);
    });
  }
  void merge(const ulpscope::Measure& next_part) override {
    const auto& next = static_cast<const TopkKlMeasure&>(next_part);
    actual_.insert(actual_.end(), next.actual_.begin(), next.actual_.end());
    golden_.insert(golden_.end(), next.golden_.begin(), next.golden_.end());
  }
  // Rows with NaN or infinity have no softmax: without a finite row nothing was measured.
  void finish(ulpscope_measurement& out) const override {
    double largest = 0, agreeing = 0, rows = 0;
    bool finite = true;
    for (size_t at = 0; row_size_ > 0 && at + row_size_ <= golden_.size(); at += row_size_, ++rows) {
      const double *a = actual_.data() + at, *g = golden_.data() + at;
      const auto is_finite = [](double x) { return std::isfinite(x); };
      finite = finite && std::all_of(a, a + row_size_, is_finite) && std::all_of(g, g + row_size_, is_finite);
      if (!finite) break;
      const std::vector<double> p = log_softmax(g, row_size_), q = log_softmax(a, row_size_);
      double divergence = 0;
      for (size_t i = 0; i < row_size_; ++i) divergence += std::exp(p[i]) * (p[i] - q[i]);
      largest = std::max(largest, divergence);
      const std::vector<size_t> of_golden = top(g, row_size_), of_actual = top(a, row_size_);
      std::vector<size_t> both;
      std::set_intersection(of_golden.begin(), of_golden.end(), of_actual.begin(), of_actual.end(),
                            std::back_inserter(both));
      agreeing += static_cast<double>(both.size()) / static_cast<double>(of_golden.size());
    }
    if (!finite) {
      ulpscope::set(out, 0, std::numeric_limits<double>::infinity());
    } else if (rows > 0) {
      ulpscope::set(out, 0, largest);
      ulpscope::set(out, 1, agreeing / rows);
    }
  }

 private:
  size_t row_size_;
  std::vector<double> actual_, golden_;
};

class TopkKl final : public ulpscope::Judgement {
 public:
  static constexpr const char* kName = "topk_kl";
  static constexpr const char* kSummary = "logits give the same distribution and the same top entries";
  static constexpr ulpscope_metric_desc kMetrics[] = {
      {"kl_divergence", -1, 0,
       "largest over rows of sum p (ln p - ln q), p and q the softmax of golden and actual"},
      {"top5_agreement", 1, 0, "mean over rows of the share of golden's 5 largest that are actual's too"}};
  static constexpr uint32_t kNeedsReference = 0;

  TopkKl(ulpscope::Host, std::string_view options_json) {
    if (!options_json.empty() && options_json != "{}")
      throw ulpscope::Failure(ULPSCOPE_E_USAGE, "topk_kl has no options, expected {}");
  }
  bool applies(const ulpscope_pair& pair, std::string& why_not) const override {
    why_not = "expected floating elements, at most 16 777 216 of them, with a last dimension";
    return ulpscope::is_floating(static_cast<ulpscope::DType>(pair.actual_dtype)) &&
           ulpscope::is_widenable(static_cast<ulpscope::DType>(pair.golden_dtype)) && pair.dim_count > 0 &&
           pair.count <= kMostElements;
  }
  std::unique_ptr<ulpscope::Measure> begin(const ulpscope_pair& pair) const override {
    return std::make_unique<TopkKlMeasure>(static_cast<size_t>(pair.dims[pair.dim_count - 1]));
  }
  void judge(const ulpscope_pair&, const ulpscope_metric* metrics, const ulpscope_metric*,
             ulpscope_verdict& out) const override {
    if (metrics[0].available == 0) return;  // skip: there was no row
    out.per_metric[0] = metrics[0].value <= 1e-3 ? ULPSCOPE_PASS : ULPSCOPE_FAIL;
    out.per_metric[1] = metrics[1].available != 0 && metrics[1].value >= 0.8 ? ULPSCOPE_PASS : ULPSCOPE_FAIL;
    out.overall = std::max(out.per_metric[0], out.per_metric[1]);
  }
};

}  // namespace

ULPSCOPE_PLUGIN("topk_kl", "0.1.0", "example", "Apache-2.0", ULPSCOPE_COMPONENT_JUDGEMENT(TopkKl));
