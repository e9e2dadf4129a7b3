// What the benchmark, absolute threshold and accumulative-error standards measure over a pair, in one pass:
// counts and sums that merge in order. Formulas: acc_check, which every function below repeats above it. Used
// by the judgement plugins through SumsMeasure. One thread at a time.
#pragma once

#include <ulpscope/elementwise.hpp>

#include <cstdint>

#include "judgements/limits.hpp"

namespace ulpscope {

// What decides to which domain an element belongs and when its error counts.
struct ErrorLimits {
  double small_value = 0, small_value_atol = 0, rtol = 0;
};

// g golden, d device, both as double; e = |d - g|; r = e / (|g| + epsilon); g' = g as the device array holds
// it.
//   infnan   d or g' is NaN or infinite
//   small    |g| <= small_value, not infnan
//   normal   neither
class ErrorSums {
 public:
  ErrorSums(const ErrorLimits& limits, DType device, DType golden);

  void consume(const ulpscope_view& actual, const ulpscope_view& golden);
  void merge(const ErrorSums& next);

  // count(small and e > small_value_atol) / count(small); 0 where there is no small value.
  double small_value_error_rate() const;
  // sqrt(s (N / (N - m + 1e-4) + 1e-4)), s = mean over all of e^2 where normal, m = count(infnan or small).
  double rmse() const;
  double max_relative_error() const { return max_relative_; }
  // Mean of r over normal elements; 0 where there is none.
  double mean_relative_error() const;
  // |count(d > g') - count(d < g')| / count.
  double error_balance() const;
  // count(infnan and not fine) / count(infnan). An infnan element is fine if both are NaN, or the difference
  // after clipping to the finite range is within rtol (|g| + epsilon).
  double inf_nan_error_rate() const;
  // count(normal and r > rtol) / count(normal).
  double relative_error_rate() const;
  int64_t count() const { return count_; }

 private:
  void add_block(const PairBlock& block);
  // g' of a block's golden numbers, into to.
  void hold_golden(const PairBlock& block, double* to) const;
  bool is_fine(double actual, double held_golden, double golden) const;

  ErrorLimits limits_;
  double epsilon_ = 0;
  DType array_ = DType::f32;
  bool golden_fits_ = false;  // every golden number is one of the array type
  double largest_ = 0;        // finite range of the device type
  double overflow_ = 0;       // differences from here on are infinite in the array type

  int64_t count_ = 0, normal_ = 0, small_ = 0, infnan_ = 0;
  int64_t small_over_ = 0, normal_over_ = 0, infnan_bad_ = 0, greater_ = 0, less_ = 0;
  double sum_squares_ = 0, sum_relative_ = 0, max_relative_ = 0;
};

}  // namespace ulpscope
