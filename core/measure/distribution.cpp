#include "measure/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ulpscope/elementwise.hpp>

#include "kernels/pair_metrics.hpp"

namespace ulpscope {
namespace {

constexpr int64_t kChunkElements = 8192;
// A scaled value is at least the float32 epsilon, so that every logarithm exists.
constexpr double kLeastShare = std::numeric_limits<float>::epsilon();
// A divergence below the double epsilon is rounding of its own sum.
constexpr double kNoDivergence = std::numeric_limits<double>::epsilon();

// A side scaled to 0 ... 1 by its extremes, unless it is constant.
struct Scale {
  double min = 0, width = 0;
  explicit Scale(const SideSums& side) : min(side.min), width(side.max - side.min) {}
  double share(double value) const {
    const double scaled = width > 0 && std::isfinite(width) ? (value - min) / width : value;
    return std::max(scaled, kLeastShare);
  }
};

// kl = sum p ln(p / q), p and q the shares of target and golden divided by their sums P and Q
//    = (sum s ln(s / r)) / P + ln(Q / P) for undivided shares s, r.
// std = sqrt(mean (x - mean x)^2), each side over the pairs finite on both.
class Accumulator {
 public:
  explicit Accumulator(const PairSums& sums)
      : target_(sums.target),
        golden_(sums.golden),
        target_mean_(mean(sums.target).value_or(0)),
        golden_mean_(mean(sums.golden).value_or(0)) {}

  void add(const double* target, const double* golden, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (!std::isfinite(target[i]) || !std::isfinite(golden[i])) continue;
      const double s = target_.share(target[i]), r = golden_.share(golden[i]);
      sum_target_ += s;
      sum_golden_ += r;
      sum_logs_ += s * std::log(s / r);
      const double t = target[i] - target_mean_, g = golden[i] - golden_mean_;
      squares_target_ += t * t;
      squares_golden_ += g * g;
      ++pairs_;
    }
  }

  std::optional<DistributionMetrics> finish() const {
    if (pairs_ == 0) return std::nullopt;
    const auto count = static_cast<double>(pairs_);
    const double divergence = sum_logs_ / sum_target_ + std::log(sum_golden_ / sum_target_);
    return DistributionMetrics{std::fabs(divergence) < kNoDivergence ? 0 : divergence,
                               std::sqrt(squares_target_ / count), std::sqrt(squares_golden_ / count)};
  }

 private:
  Scale target_, golden_;
  double target_mean_, golden_mean_;
  double sum_target_ = 0, sum_golden_ = 0, sum_logs_ = 0, squares_target_ = 0, squares_golden_ = 0;
  int64_t pairs_ = 0;
};

Result<std::optional<DistributionMetrics>> measure_pair(const ResultTable& table, const DataPair& pair,
                                                        const PairSums& sums) {
  const DType target = pair.target.dtype, golden = pair.golden.dtype;
  ULPSCOPE_ASSIGN(SideReader t, SideReader::open(*table.target, pair.target));
  ULPSCOPE_ASSIGN(SideReader g, SideReader::open(*table.golden, pair.golden));
  Accumulator accumulator(sums);
  std::vector<std::byte> bytes;
  std::vector<double> numbers_t, numbers_g;
  for (int64_t first = 0; first < pair.count; first += kChunkElements) {
    const int64_t n = std::min(kChunkElements, pair.count - first);
    const auto load = [&](SideReader& reader, DType dtype, std::vector<double>& numbers) -> Status {
      bytes.resize(static_cast<size_t>(n) * size_bytes(dtype));
      ULPSCOPE_TRY(reader.read(static_cast<uint64_t>(first) * size_bytes(dtype), bytes));
      numbers.resize(static_cast<size_t>(n));
      widen(dtype, bytes.data(), static_cast<uint64_t>(n), numbers.data());
      return {};
    };
    ULPSCOPE_TRY(load(t, target, numbers_t));
    ULPSCOPE_TRY(load(g, golden, numbers_g));
    accumulator.add(numbers_t.data(), numbers_g.data(), n);
  }
  return accumulator.finish();
}

// Real numbers on both sides, none of them left out as padding.
bool has_distribution(const DataPair& pair) {
  const auto is_real = [](DType dtype) { return is_widenable(dtype) && !is_complex(dtype); };
  return is_real(pair.target.dtype) && is_real(pair.golden.dtype) && pair.count > 1 &&
         pair.valid_target == pair.count && pair.valid_golden == pair.count;
}

}  // namespace

void measure_distributions(ResultTable& table, const std::vector<DataPair>& pairs, int64_t max_elements,
                           ThreadPool& pool, const Cancel& cancel) {
  pool.parallel_for(static_cast<int64_t>(pairs.size()), [&](int64_t i, int) {
    const DataPair& pair = pairs[static_cast<size_t>(i)];
    const int64_t slot = table.rows[static_cast<size_t>(pair.row)].metrics;
    if (cancel.requested() || slot < 0 || pair.count > max_elements || !has_distribution(pair)) return;
    DataMetrics& metrics = table.data_metrics[static_cast<size_t>(slot)];
    const auto measured = measure_pair(table, pair, metrics.sums);
    if (measured.ok()) metrics.distribution = *measured;
  });
}

}  // namespace ulpscope
