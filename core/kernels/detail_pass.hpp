// The second look at a pair that differs: the distribution of its errors, its worst elements, and how many
// stand out. Run only where the fused pass found a difference, because it costs more than that. Mergeable
// over tiles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "kernels/pair_metrics.hpp"
#include "kernels/pair_plan.hpp"

namespace ulpscope {

// How many errors lie in each power of two: counts[i] of them in [2^(first + i), 2^(first + i + 1)).
struct ErrorOctaves {
  int32_t first = 0;
  int64_t zeros = 0;
  std::vector<int64_t> counts;
};

// Counts of errors by size: every power of two is cut into 16 equal parts, so that a part is at most 1/16
// wide relative to what it holds. Memory grows with the range of sizes met, at most 256 KiB.
class ErrorHistogram {
 public:
  static constexpr int32_t kPartsPerOctave = 16;

  // error: not negative, not NaN.
  void add(double error);
  void merge(const ErrorHistogram& next);
  int64_t count() const { return count_; }
  // The size that share of all errors do not exceed (nearest rank), as the middle of its part: within 1/16 of
  // an octave of the exact one, exact where it is 0 or infinite. Absent when there is no error in it. share:
  // 0 … 1.
  Metric quantile(double share) const;
  // What the two have in common: the sum over all parts of the smaller share, 0 … 1. 0 where one is empty.
  friend double overlap(const ErrorHistogram& a, const ErrorHistogram& b);
  // The counts by powers of two, into room that is used again. Infinite errors are in none.
  void octaves(ErrorOctaves& out) const;

 private:
  int64_t count_ = 0, zeros_ = 0, infinite_ = 0;
  int32_t first_ = 0;            // part that counts_[0] stands for
  std::vector<int64_t> counts_;  // parts in order of size
};

struct WorstElement {
  int64_t index = -1;  // of the element
  double target = 0, golden = 0;
  double error = 0;  // |target - golden|; infinite for a nonfinite mismatch
  bool nonfinite_mismatch = false;
};

// The mergeable state of one tile.
struct DetailSums {
  static constexpr size_t kWorst = 4;

  ErrorHistogram errors;  // of the finite pairs
  // Largest error first, ties by index; nonfinite mismatches above all. Only numbers that differ; a complex
  // element may stand in it twice.
  std::array<WorstElement, kWorst> worst;
  size_t worst_count = 0;
  int64_t above = 0;         // finite pairs with an error above 8 u max(|golden|, rms)
  int64_t finite_pairs = 0;  // what above counts among

  void merge(const DetailSums& next_tile);
  // Puts an element where it belongs among the worst, if it does. Elements come in order of index.
  void offer(const WorstElement& element);
};

// What an error must exceed to count: 8 u max(|golden|, rms), the frac rule of localisation.
struct DetailScale {
  double unit_roundoff = 0;     // u of the coarser format
  double root_mean_square = 0;  // of golden's finite numbers
};

// above / finite_pairs; absent when no pair is finite.
Metric fraction_above(const DetailSums& sums);

// The pass for one pair of types. A value; run may be called from any thread.
class DetailKernel {
 public:
  // unsupported: a packed or opaque type, as for PairKernel.
  static Result<DetailKernel> choose(DType target, DType golden, DetailScale scale);
  // Adds count elements; arguments as for PairKernel::run.
  void run(const std::byte* target, const std::byte* golden, int64_t count, int64_t first_index,
           DetailSums& sums) const;

 private:
  DetailKernel(const PairPlan& plan, DetailScale scale) : plan_(plan), scale_(scale) {}
  PairPlan plan_;
  DetailScale scale_;
};

}  // namespace ulpscope
