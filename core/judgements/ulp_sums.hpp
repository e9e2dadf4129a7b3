// Errors in units of the last place of the device type, in one pass: maximum, mean and the share above the
// type's threshold. Used by the plugin ulp through SumsMeasure. One thread at a time.
#pragma once

#include <ulpscope/elementwise.hpp>

#include <cstdint>

#include "judgements/limits.hpp"

namespace ulpscope {

// u = |(d - g) 2^(mantissa_bits - E)|, E = max(floor(log2 |g|), min_exponent), in double. The 8-bit formats
// have a scheme of their own, see the source. NaN or infinity on either side makes u NaN or infinite: maximum
// and mean become so too, the rate does not count a NaN.
class UlpSums {
 public:
  // zero_exponent: E where g is 0; min_exponent by the arithmetic of the formats, 0 in the code of msprobe.
  // signed_tapered: that code takes no absolute value for the 8-bit formats.
  struct Rules {
    UlpFormat format;
    int zero_exponent = 0;
    bool signed_tapered = false;
    // By the numeric policy NaN equals NaN, and an infinity one of its sign: no error. That code has NaN.
    bool equal_nonfinite_is_equal = true;
  };
  static Rules rules(LimitProfile profile, DType device);

  explicit UlpSums(const Rules& rules) : rules_(rules) {}

  void consume(const ulpscope_view& actual, const ulpscope_view& golden);
  void merge(const UlpSums& next);

  double max_ulp() const;
  double mean_ulp() const;
  // count(u > over_threshold) / count; 0 for an empty pair.
  double over_threshold_rate() const;
  int64_t count() const { return count_; }

 private:
  double error(double d, double g) const;

  Rules rules_;
  int64_t count_ = 0, nan_ = 0, over_ = 0;
  double sum_ = 0, max_ = 0;
  bool has_max_ = false;
};

}  // namespace ulpscope
