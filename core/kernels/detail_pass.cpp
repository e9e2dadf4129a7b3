#include "kernels/detail_pass.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/block_loader.hpp"

namespace ulpscope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Exponent and the four leading mantissa bits of a double number the parts in order of size; subnormals share
// those of exponent 0, which is finer than they need.
constexpr int kPartShift = 48;
constexpr int32_t kExponentBias = 1023;

int32_t part_of(double error) { return static_cast<int32_t>(std::bit_cast<uint64_t>(error) >> kPartShift); }

double middle_of(int32_t part) {
  return std::bit_cast<double>((static_cast<uint64_t>(part) << kPartShift) |
                               (uint64_t{1} << (kPartShift - 1)));
}

bool ranks_above(const WorstElement& a, const WorstElement& b) {
  if (a.nonfinite_mismatch != b.nonfinite_mismatch) return a.nonfinite_mismatch;
  if (!a.nonfinite_mismatch && a.error != b.error) return a.error > b.error;
  return a.index < b.index;
}

bool same_class(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b; }

}  // namespace

void ErrorHistogram::add(double error) {
  ++count_;
  if (error == 0) {
    ++zeros_;
    return;
  }
  if (std::isinf(error)) {
    ++infinite_;
    return;
  }
  const int32_t part = part_of(error);
  if (counts_.empty()) first_ = part;
  if (part < first_) {
    counts_.insert(counts_.begin(), static_cast<size_t>(first_ - part), 0);
    first_ = part;
  }
  const auto place = static_cast<size_t>(part - first_);
  if (place >= counts_.size()) counts_.resize(place + 1, 0);
  ++counts_[place];
}

void ErrorHistogram::merge(const ErrorHistogram& next) {
  count_ += next.count_;
  zeros_ += next.zeros_;
  infinite_ += next.infinite_;
  if (next.counts_.empty()) return;
  if (counts_.empty()) {
    first_ = next.first_;
    counts_ = next.counts_;
    return;
  }
  const int32_t first = std::min(first_, next.first_);
  const int32_t end = std::max(first_ + static_cast<int32_t>(counts_.size()),
                               next.first_ + static_cast<int32_t>(next.counts_.size()));
  counts_.insert(counts_.begin(), static_cast<size_t>(first_ - first), 0);
  counts_.resize(static_cast<size_t>(end - first), 0);
  first_ = first;
  for (size_t i = 0; i < next.counts_.size(); ++i)
    counts_[static_cast<size_t>(next.first_ - first) + i] += next.counts_[i];
}

double overlap(const ErrorHistogram& a, const ErrorHistogram& b) {
  if (a.count_ == 0 || b.count_ == 0) return 0;
  const auto n = static_cast<double>(a.count_), m = static_cast<double>(b.count_);
  const auto common = [&](int64_t x, int64_t y) {
    return std::min(static_cast<double>(x) / n, static_cast<double>(y) / m);
  };
  double sum = common(a.zeros_, b.zeros_) + common(a.infinite_, b.infinite_);
  for (size_t i = 0; i < a.counts_.size(); ++i) {
    const int64_t other = int64_t{a.first_} + static_cast<int64_t>(i) - b.first_;
    if (other >= 0 && other < static_cast<int64_t>(b.counts_.size()))
      sum += common(a.counts_[i], b.counts_[static_cast<size_t>(other)]);
  }
  return sum;
}

Metric ErrorHistogram::quantile(double share) const {
  if (count_ == 0) return std::nullopt;
  const double exact_rank = std::ceil(share * static_cast<double>(count_));
  const int64_t rank = std::clamp(static_cast<int64_t>(exact_rank), int64_t{1}, count_);
  int64_t seen = zeros_;
  if (rank <= seen) return 0.0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (rank <= seen) return middle_of(first_ + static_cast<int32_t>(i));
  }
  return kInfinity;
}

void ErrorHistogram::octaves(ErrorOctaves& out) const {
  const auto octave_of = [](int32_t part) { return part / kPartsPerOctave - kExponentBias; };
  out.counts.clear();
  out.zeros = zeros_;
  out.first = octave_of(first_);
  if (counts_.empty()) return;
  const int32_t last = octave_of(first_ + static_cast<int32_t>(counts_.size()) - 1);
  out.counts.resize(static_cast<size_t>(last - out.first) + 1, 0);
  for (size_t i = 0; i < counts_.size(); ++i)
    out.counts[static_cast<size_t>(octave_of(first_ + static_cast<int32_t>(i)) - out.first)] += counts_[i];
}

void DetailSums::offer(const WorstElement& element) {
  if (worst_count == kWorst && !ranks_above(element, worst[kWorst - 1])) return;
  size_t place = worst_count < kWorst ? worst_count++ : kWorst - 1;
  for (; place > 0 && ranks_above(element, worst[place - 1]); --place) worst[place] = worst[place - 1];
  worst[place] = element;
}

void DetailSums::merge(const DetailSums& next_tile) {
  errors.merge(next_tile.errors);
  for (size_t i = 0; i < next_tile.worst_count; ++i) offer(next_tile.worst[i]);
  above += next_tile.above;
  finite_pairs += next_tile.finite_pairs;
}

Metric fraction_above(const DetailSums& sums) {
  if (sums.finite_pairs == 0) return std::nullopt;
  return static_cast<double>(sums.above) / static_cast<double>(sums.finite_pairs);
}

Result<DetailKernel> DetailKernel::choose(DType target, DType golden, DetailScale scale) {
  ULPSCOPE_ASSIGN(const PairPlan plan, make_pair_plan(target, golden, 0));
  return DetailKernel(plan, scale);
}

void DetailKernel::run(const std::byte* target, const std::byte* golden, int64_t count, int64_t first_index,
                       DetailSums& sums) const {
  const int64_t step = kBlockNumbers / plan_.parts;  // elements
  const double factor = 8 * scale_.unit_roundoff;
  BlockBuffers buffers;
  for (int64_t first = 0; first < count; first += step) {
    const int64_t numbers = std::min(step, count - first) * plan_.parts;
    const BlockArrays block =
        load_block(plan_, target + first * static_cast<int64_t>(size_bytes(plan_.target)),
                   golden + first * static_cast<int64_t>(size_bytes(plan_.golden)), numbers, buffers);
    for (int64_t i = 0; i < numbers; ++i) {
      const double t = block.target[i], g = block.golden[i];
      const int64_t index = first_index + first + i / plan_.parts;
      if (!std::isfinite(t) || !std::isfinite(g)) {
        if (!same_class(t, g)) sums.offer({index, t, g, kInfinity, true});
        continue;
      }
      const double error = block.error(i);
      ++sums.finite_pairs;
      sums.errors.add(error);
      if (error == 0) continue;
      sums.above += error > factor * std::max(std::fabs(g), scale_.root_mean_square) ? 1 : 0;
      sums.offer({index, t, g, error, false});
    }
  }
}

}  // namespace ulpscope
