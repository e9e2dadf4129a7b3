// compare_weights of weights.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "base/sha256.hpp"
#include "config_check/weights.hpp"
#include "kernels/pair_kernels.hpp"
#include "kernels/pair_metrics.hpp"

namespace ulpscope {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
// Sums of the same numbers in another order may differ in their last bits: relative to themselves, and to the
// size of the numbers.
constexpr double kSameSum = 1e-12, kSameCancelledSum = 1e-15;

bool same(Metric x, Metric y) {
  if (!x || !y) return !x && !y;
  return *x <= *y && *x >= *y;
}

// size: of the numbers that were summed, such as their root mean square.
bool near(Metric x, Metric y, double size) {
  return same(x, y) || (x && y && std::fabs(*x - *y) <= kSameSum * std::fabs(*x) + kSameCancelledSum * size);
}

// Whether a statistics dump would show the two sides alike.
bool same_statistics(const SideSums& a, const SideSums& b) {
  const double size = l2norm(a).value_or(0) / std::sqrt(static_cast<double>(std::max<int64_t>(a.finite, 1)));
  return same(max(a), max(b)) && same(min(a), min(b)) && near(mean(a), mean(b), size) &&
         near(l2norm(a), l2norm(b), 0) && a.nan_count == b.nan_count && inf_count(a) == inf_count(b);
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

// Two tensors of one dtype and size, piece by piece.
class PieceReader {
 public:
  PieceReader(const WeightTensor& golden, const WeightTensor& problem, const Cancel& cancel,
              const std::function<void(uint64_t)>& on_bytes)
      : golden_(golden),
        problem_(problem),
        cancel_(cancel),
        on_bytes_(on_bytes),
        left_(static_cast<size_t>(std::min<uint64_t>(golden.size, kChunkBytes))),
        right_(left_.size()) {}

  // Calls take(left, right) until it answers false; answers whether it never did. Bytes are told once,
  // however often they are read.
  template <class Take>
  Result<bool> run(Take take) {
    for (uint64_t done = 0; done < golden_.size;) {
      if (cancel_.requested()) return Error{Code::cancelled, "interrupted"};
      const auto now = static_cast<size_t>(std::min<uint64_t>(golden_.size - done, left_.size()));
      const std::span<std::byte> a = std::span(left_).first(now), b = std::span(right_).first(now);
      ULPSCOPE_TRY(golden_.source->read_exact(golden_.offset + done, a));
      ULPSCOPE_TRY(problem_.source->read_exact(problem_.offset + done, b));
      done += now;
      if (done > told_) {
        if (on_bytes_) on_bytes_(2 * (done - told_));
        told_ = done;
      }
      if (!take(std::span<const std::byte>(a), std::span<const std::byte>(b))) return false;
    }
    return true;
  }

 private:
  const WeightTensor &golden_, &problem_;
  const Cancel& cancel_;
  const std::function<void(uint64_t)>& on_bytes_;
  std::vector<std::byte> left_, right_;
  uint64_t told_ = 0;
};

// Everything that is told of two tensors whose bytes differ, in one pass.
class DifferenceMeter {
 public:
  explicit DifferenceMeter(DType type) : width_(size_bytes(type)) {
    if (auto kernel = PairKernel::choose(type, type, kGroupDefault); kernel.ok()) kernel_ = *kernel;
  }

  void add(std::span<const std::byte> left, std::span<const std::byte> right) {
    left_hash_.add(left);
    right_hash_.add(right);
    if (width_ == 0) return;
    const size_t count = left.size() / width_;
    if (std::memcmp(left.data(), right.data(), left.size()) != 0) {
      int64_t first = found_.first < 0 ? -1 : 0;
      found_.differing += count_differing(width_, left.data(), right.data(), count, first);
      if (found_.first < 0) found_.first = found_.elements + first;
    }
    if (kernel_) {
      PairSums piece;
      kernel_->run(right.data(), left.data(), static_cast<int64_t>(count), found_.elements, piece);
      if (found_.elements == 0)
        sums_ = piece;
      else
        sums_.merge(piece);
    }
    found_.elements += static_cast<int64_t>(count);
  }

  WeightDifference finish(WeightTensor& golden, WeightTensor& problem) {
    golden.sha256 = left_hash_.finish();
    problem.sha256 = right_hash_.finish();
    found_.has_numbers = kernel_.has_value();
    if (!kernel_) return found_;
    found_.largest = max_abs_err(sums_).value_or(0);
    found_.same_statistics = same_statistics(sums_.golden, sums_.target);
    return found_;
  }

 private:
  size_t width_;
  Sha256 left_hash_, right_hash_;
  std::optional<PairKernel> kernel_;
  PairSums sums_;
  WeightDifference found_;
};

}  // namespace

bool can_compare_bytes(const WeightTensor& golden, const WeightTensor& problem) {
  return golden.source && problem.source && golden.dtype == problem.dtype && golden.size == problem.size;
}

Result<WeightDifference> compare_weights(WeightTensor& golden, WeightTensor& problem, const Cancel& cancel,
                                         const std::function<void(uint64_t)>& on_bytes) {
  PieceReader reader(golden, problem, cancel, on_bytes);
  using Piece = std::span<const std::byte>;
  // Most tensors are equal: their bytes are compared at the speed at which they come, and nothing is hashed.
  ULPSCOPE_ASSIGN(const bool equal, reader.run([](Piece a, Piece b) {
    return std::memcmp(a.data(), b.data(), a.size()) == 0;
  }));
  if (equal) {
    WeightDifference none;
    none.same_bytes = true;
    return none;
  }
  DifferenceMeter meter(golden.type);
  ULPSCOPE_TRY(reader.run([&](Piece a, Piece b) {
    meter.add(a, b);
    return true;
  }));
  return meter.finish(golden, problem);
}

}  // namespace ulpscope
