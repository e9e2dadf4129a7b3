// compare_weight_bytes of weights.hpp.
#include <ulpscope/elementwise.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "config_check/weights.hpp"
#include "tensors/statistics.hpp"

namespace ulpscope {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kLanes = 8;  // sums apart, for the processor to add several at once
// Sums of the same numbers in another order may differ in their last bits: relative to themselves, and to the
// sum of the magnitudes.
constexpr double kSameSum = 1e-12, kSameCancelledSum = 1e-15;

bool can_widen(DType type) {
  double number[2] = {};
  const std::byte zeros[16] = {};
  return type != DType::none && widen(type, zeros, 1, number);
}

// All values of a 16-bit float by its code.
std::vector<double> make_code_table(DType type) {
  constexpr size_t kCodes = 65536;
  std::vector<uint16_t> codes(kCodes);
  for (size_t code = 0; code < kCodes; ++code) codes[code] = static_cast<uint16_t>(code);
  std::vector<double> table(kCodes);
  widen(type, codes.data(), kCodes, table.data());
  return table;
}

// widen, quicker for the types that most weights have.
void widen_block(DType type, const std::byte* from, size_t count, double* to) {
  if (type != DType::bf16 && type != DType::f16) {
    widen(type, from, count, to);
    return;
  }
  static const std::vector<double> half = make_code_table(DType::f16);
  for (size_t i = 0; i < count; ++i) {
    uint16_t code = 0;
    std::memcpy(&code, from + i * sizeof code, sizeof code);
    // A bfloat16 is the upper half of a float32.
    to[i] =
        type == DType::bf16 ? static_cast<double>(std::bit_cast<float>(uint32_t{code} << 16)) : half[code];
  }
}

// What a statistics dump would show of one side, from blocks of numbers whose squares are doubles.
struct SideNumbers {
  double max = -kInfinity, min = kInfinity;
  double sum = 0, magnitudes = 0, squares = 0;
  int64_t nan_count = 0, infinite = 0;

  void add(const double* numbers, size_t count) {
    std::array<double, kLanes> most = {}, least = {}, sums = {}, sizes = {}, squared = {}, odd = {};
    most.fill(max);
    least.fill(min);
    size_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const double x = numbers[i + lane], size = std::fabs(x);
        const bool finite = size <= std::numeric_limits<double>::max();
        const double kept = finite ? x : 0, high = finite ? x : -kInfinity, low = finite ? x : kInfinity;
        most[lane] = high > most[lane] ? high : most[lane];
        least[lane] = low < least[lane] ? low : least[lane];
        sums[lane] += kept;
        sizes[lane] += std::fabs(kept);
        squared[lane] += kept * kept;
        odd[lane] += finite ? 0.0 : 1.0;
      }
    double others = 0;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      max = std::max(max, most[lane]);
      min = std::min(min, least[lane]);
      sum += sums[lane];
      magnitudes += sizes[lane];
      squares += squared[lane];
      others += odd[lane];
    }
    for (; i < count; ++i) add_one(numbers[i]);
    if (others > 0) count_odd(numbers, count - count % kLanes);
  }

 private:
  void add_one(double x) {
    if (!std::isfinite(x)) return count_odd(&x, 1);
    max = std::max(max, x);
    min = std::min(min, x);
    sum += x;
    magnitudes += std::fabs(x);
    squares += x * x;
  }
  void count_odd(const double* numbers, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      nan_count += std::isnan(numbers[i]) ? 1 : 0;
      infinite += std::isinf(numbers[i]) ? 1 : 0;
    }
  }
};

bool same(double x, double y) { return (x <= y && x >= y) || (std::isnan(x) && std::isnan(y)); }

bool near_sum(double x, double y, double magnitudes) {
  return same(x, y) || std::fabs(x - y) <= kSameSum * std::fabs(x) + kSameCancelledSum * magnitudes;
}

bool same_statistics(const SideNumbers& a, const SideNumbers& b) {
  return same(a.max, b.max) && same(a.min, b.min) && near_sum(a.sum, b.sum, a.magnitudes) &&
         near_sum(a.squares, b.squares, 0) && a.nan_count == b.nan_count && a.infinite == b.infinite;
}

bool same_statistics(const TensorStatistics& a, const TensorStatistics& b) {
  return same(a.max, b.max) && same(a.min, b.min) && near_sum(a.mean, b.mean, 0) &&
         near_sum(a.l2norm, b.l2norm, 0) && a.nan_count == b.nan_count;
}

// Elements of the size of Code that differ; first is set at the first one when it is negative.
template <class Code>
int64_t count_differing(const std::byte* left, const std::byte* right, size_t count, int64_t& first) {
  const auto differs = [&](size_t i) {
    Code a, b;
    std::memcpy(&a, left + i * sizeof a, sizeof a);
    std::memcpy(&b, right + i * sizeof b, sizeof b);
    return a != b;
  };
  uint32_t differing = 0;
  for (size_t i = 0; i < count; ++i) differing += differs(i) ? 1 : 0;
  for (size_t i = 0; first < 0 && i < count; ++i)
    if (differs(i)) first = static_cast<int64_t>(i);
  return differing;
}

int64_t count_differing(size_t width, const std::byte* left, const std::byte* right, size_t count,
                        int64_t& first) {
  switch (width) {
    case 1:
      return count_differing<uint8_t>(left, right, count, first);
    case 2:
      return count_differing<uint16_t>(left, right, count, first);
    case 4:
      return count_differing<uint32_t>(left, right, count, first);
    case 8:
      return count_differing<uint64_t>(left, right, count, first);
    default:
      return count_differing<std::array<uint64_t, 2>>(left, right, count, first);
  }
}

double largest_difference(const double* left, const double* right, size_t count) {
  std::array<double, kLanes> most = {};
  const auto take = [&](size_t i, double& largest) {
    const double difference = std::fabs(left[i] - right[i]);
    const double counted = difference <= std::numeric_limits<double>::max() ? difference : 0;
    largest = counted > largest ? counted : largest;
  };
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) take(i + lane, most[lane]);
  for (; i < count; ++i) take(i, most[0]);
  return *std::max_element(most.begin(), most.end());
}

class WeightComparison {
 public:
  WeightComparison(DType type, int64_t elements) : type_(type), width_(size_bytes(type)) {
    found_.elements = elements;
    found_.has_numbers = can_widen(type);
    // Squares of float64 need not be doubles.
    if (found_.has_numbers && width_ / parts(type) > sizeof(float)) {
      left_exactly_.emplace(type);
      right_exactly_.emplace(type);
    }
  }

  // Pieces of the same length, in order; whole elements.
  void add(std::span<const std::byte> left, std::span<const std::byte> right) {
    const size_t step = ULPSCOPE_BLOCK / parts(type_);
    for (size_t begin = 0; begin < left.size(); begin += step * width_) {
      const size_t count = std::min(step, (left.size() - begin) / width_);
      if (count == 0) break;
      add_block(left.data() + begin, right.data() + begin, count);
      done_ += static_cast<int64_t>(count);
    }
  }

  WeightDifference finish() {
    if (left_exactly_)
      found_.same_statistics = same_statistics(left_exactly_->finish(), right_exactly_->finish());
    else if (found_.has_numbers)
      found_.same_statistics = same_statistics(left_, right_);
    return found_;
  }

 private:
  void add_block(const std::byte* left, const std::byte* right, size_t count) {
    const bool equal = std::memcmp(left, right, count * width_) == 0;
    if (!equal) {
      int64_t first = found_.first < 0 ? -1 : 0;
      found_.differing += count_differing(width_, left, right, count, first);
      if (found_.first < 0) found_.first = done_ + first;
    }
    if (!found_.has_numbers) return;
    const size_t numbers = count * parts(type_);
    std::array<double, ULPSCOPE_BLOCK> a, b;
    widen_block(type_, left, count, a.data());
    if (!equal) {
      widen_block(type_, right, count, b.data());
      found_.largest = std::max(found_.largest, largest_difference(a.data(), b.data(), numbers));
    }
    if (left_exactly_) {
      left_exactly_->add(left, static_cast<int64_t>(count));
      right_exactly_->add(right, static_cast<int64_t>(count));
    } else {
      left_.add(a.data(), numbers);
      right_.add(equal ? a.data() : b.data(), numbers);
    }
  }

  DType type_;
  size_t width_;
  int64_t done_ = 0;  // elements
  WeightDifference found_;
  SideNumbers left_, right_;
  std::optional<StatisticsAccumulator> left_exactly_, right_exactly_;
};

}  // namespace

Result<WeightDifference> compare_weight_bytes(const WeightTensor& golden, const WeightTensor& problem,
                                              const Cancel& cancel,
                                              const std::function<void(uint64_t)>& on_bytes) {
  const size_t width = size_bytes(golden.type);
  if (width == 0 || golden.size != problem.size || !golden.source || !problem.source)
    return WeightDifference{};
  WeightComparison comparison(golden.type, static_cast<int64_t>(golden.size / width));
  const auto buffer_bytes = static_cast<size_t>(std::min<uint64_t>(golden.size, kChunkBytes));
  std::vector<std::byte> left(buffer_bytes), right(buffer_bytes);
  for (uint64_t done = 0; done < golden.size;) {
    if (cancel.requested()) return Error{Code::cancelled, "interrupted"};
    const auto now = static_cast<size_t>(std::min<uint64_t>(golden.size - done, buffer_bytes));
    const std::span<std::byte> a = std::span(left).first(now), b = std::span(right).first(now);
    ULPSCOPE_TRY(golden.source->read_exact(golden.offset + done, a));
    ULPSCOPE_TRY(problem.source->read_exact(problem.offset + done, b));
    comparison.add(a, b);
    if (on_bytes) on_bytes(2 * now);
    done += now;
  }
  return comparison.finish();
}

}  // namespace ulpscope
