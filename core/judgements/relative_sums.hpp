// Counts of elements within a relative error, the largest absolute error, and how many elements differ, in
// one pass: what the double-thousandth method, binary consistency, quantised outputs and the indicators of
// the pre-check need. Used by their plugins through SumsMeasure. One thread at a time.
#pragma once

#include <ulpscope/elementwise.hpp>

#include <cstdint>

#include "judgements/limits.hpp"

namespace ulpscope {

// How NaN and infinity count. equal_is_equal: by the numeric policy NaN equals NaN and an infinity one of its
// sign. Otherwise as in the code of msprobe: NaN differs from everything, and no infinity is within anything.
enum class NonfiniteRule : uint8_t { equal_is_equal, never_within };

// r = |d - g| / (|g| + epsilon).
class RelativeSums {
 public:
  // Limits of r, and of within() in its order: 双百, 双千 and 双万 of the pre-check.
  static constexpr double kLimits[3] = {0.01, 0.001, 0.0001};
  enum Within : uint8_t { hundredth, thousandth, ten_thousandth };

  RelativeSums(NonfiniteRule rule, DType device, DType golden)
      : rule_(rule), epsilon_(golden_epsilon(golden, device)) {}

  void consume(const ulpscope_view& actual, const ulpscope_view& golden);
  void merge(const RelativeSums& next);

  // count(r < limit) / count; 1 for an empty pair.
  double within(Within which) const;
  // Largest |d - g|; by never_within NaN as soon as one difference is.
  double max_abs_error() const;
  int64_t nonfinite_mismatch() const { return nonfinite_mismatch_; }
  int64_t count() const { return count_; }
  // Largest magnitude of a side, without its NaNs; by never_within infinite where there is one.
  double largest_actual() const { return largest_actual_; }
  double largest_golden() const { return largest_golden_; }
  bool has_nonfinite() const { return has_nonfinite_; }

 private:
  void add_nonfinite(double d, double g);

  NonfiniteRule rule_;
  double epsilon_ = 0;
  int64_t count_ = 0, within_[3] = {0, 0, 0}, nan_errors_ = 0, nonfinite_mismatch_ = 0;
  double max_abs_ = 0, largest_actual_ = 0, largest_golden_ = 0;
  bool has_nonfinite_ = false;
};

// Elements that are not equal, and by how much at most. Integers of any size are compared exactly, everything
// else as double. A complex element is one: it is equal if both parts are.
class EqualitySums {
 public:
  explicit EqualitySums(NonfiniteRule rule) : rule_(rule) {}

  void consume(const ulpscope_view& actual, const ulpscope_view& golden);
  void merge(const EqualitySums& next);

  // count(d != g) / count; 0 for an empty pair. -0 equals +0.
  double error_rate() const;
  // The double nearest to the largest |d - g|.
  double max_abs_error() const { return max_abs_; }
  int64_t count() const { return count_; }

 private:
  NonfiniteRule rule_;
  int64_t count_ = 0, unequal_ = 0;
  double max_abs_ = 0;
};

// Relative errors of the community standard for operators over the pairs that are finite on both sides:
// |d - g| / (|g| + 1e-7).
class MeanMaxRelativeSums {
 public:
  static constexpr double kEpsilon = 1e-7;

  void consume(const ulpscope_view& actual, const ulpscope_view& golden);
  void merge(const MeanMaxRelativeSums& next);

  double mean() const { return finite_ == 0 ? 0 : sum_ / static_cast<double>(finite_); }
  double max() const { return max_; }
  int64_t nonfinite_mismatch() const { return nonfinite_mismatch_; }

 private:
  int64_t finite_ = 0, nonfinite_mismatch_ = 0;
  double sum_ = 0, max_ = 0;
};

}  // namespace ulpscope
