#include "judgements/relative_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope {
namespace {

bool same_nonfinite(double d, double g) { return std::isnan(g) ? std::isnan(d) : d == g; }

}  // namespace

void RelativeSums::add_nonfinite(double d, double g) {
  has_nonfinite_ = true;
  const bool same = same_nonfinite(d, g);
  nonfinite_mismatch_ += same ? 0 : 1;
  if (rule_ == NonfiniteRule::equal_is_equal) {
    if (same)
      for (int64_t& each : within_) ++each;
    return;
  }
  // A side that holds a NaN is not taken as zero.
  if (std::isnan(d)) largest_actual_ = std::numeric_limits<double>::infinity();
  if (std::isnan(g)) largest_golden_ = std::numeric_limits<double>::infinity();
  const double e = std::fabs(d - g);  // of equal infinities: NaN
  if (std::isnan(e))
    ++nan_errors_;
  else
    max_abs_ = std::max(max_abs_, e);
}

void RelativeSums::consume(const ulpscope_view& actual, const ulpscope_view& golden) {
  visit_blocks(actual, golden, [this](const PairBlock& block) {
    for (uint32_t i = 0; i < block.count; ++i) {
      const double d = block.actual[i], g = block.golden[i];
      const double size_d = std::fabs(d), size_g = std::fabs(g);
      largest_actual_ = size_d > largest_actual_ ? size_d : largest_actual_;
      largest_golden_ = size_g > largest_golden_ ? size_g : largest_golden_;
      if (!std::isfinite(d) || !std::isfinite(g)) {
        add_nonfinite(d, g);
        continue;
      }
      const double e = std::fabs(d - g), r = e / (size_g + epsilon_);
      max_abs_ = e > max_abs_ ? e : max_abs_;
      for (int k = 0; k < 3; ++k) within_[k] += r < kLimits[k] ? 1 : 0;
    }
    count_ += block.count;
  });
}

void RelativeSums::merge(const RelativeSums& next) {
  count_ += next.count_;
  for (int k = 0; k < 3; ++k) within_[k] += next.within_[k];
  nan_errors_ += next.nan_errors_;
  nonfinite_mismatch_ += next.nonfinite_mismatch_;
  max_abs_ = std::max(max_abs_, next.max_abs_);
  largest_actual_ = std::max(largest_actual_, next.largest_actual_);
  largest_golden_ = std::max(largest_golden_, next.largest_golden_);
  has_nonfinite_ = has_nonfinite_ || next.has_nonfinite_;
}

double RelativeSums::within(Within which) const {
  return count_ == 0 ? 1 : static_cast<double>(within_[which]) / static_cast<double>(count_);
}

double RelativeSums::max_abs_error() const {
  return nan_errors_ > 0 ? std::numeric_limits<double>::quiet_NaN() : max_abs_;
}

void EqualitySums::consume(const ulpscope_view& actual, const ulpscope_view& golden) {
  const auto a = static_cast<DType>(actual.dtype), g = static_cast<DType>(golden.dtype);
  if (is_exact_integer(a) && is_exact_integer(g)) {
    visit_integers(actual, golden, [this](uint64_t, ExactInteger x, ExactInteger y) {
      ++count_;
      if (x == y) return;
      ++unequal_;
      max_abs_ = std::max(max_abs_, distance(x, y));
    });
    return;
  }
  const uint32_t numbers = std::max(parts(a), parts(g));  // of an element; blocks hold whole elements
  visit_blocks(actual, golden, [this, numbers](const PairBlock& block) {
    for (uint32_t first = 0; first < block.count; first += numbers) {
      bool equal = true;
      for (uint32_t i = first; i < first + numbers; ++i) {
        const double d = block.actual[i], y = block.golden[i];
        if (d == y || (rule_ == NonfiniteRule::equal_is_equal && std::isnan(d) && std::isnan(y))) continue;
        equal = false;
        const double e = std::fabs(d - y);
        max_abs_ = !(e <= max_abs_) ? e : max_abs_;
      }
      ++count_;
      unequal_ += equal ? 0 : 1;
    }
  });
}

void EqualitySums::merge(const EqualitySums& next) {
  count_ += next.count_;
  unequal_ += next.unequal_;
  max_abs_ = !(next.max_abs_ <= max_abs_) ? next.max_abs_ : max_abs_;
}

double EqualitySums::error_rate() const {
  return count_ == 0 ? 0 : static_cast<double>(unequal_) / static_cast<double>(count_);
}

void MeanMaxRelativeSums::consume(const ulpscope_view& actual, const ulpscope_view& golden) {
  visit_blocks(actual, golden, [this](const PairBlock& block) {
    double lanes[kLanes] = {};
    for (uint32_t i = 0; i < block.count; ++i) {
      const double d = block.actual[i], g = block.golden[i];
      if (!std::isfinite(d) || !std::isfinite(g)) {
        nonfinite_mismatch_ += same_nonfinite(d, g) ? 0 : 1;
        continue;
      }
      const double r = std::fabs(d - g) / (std::fabs(g) + kEpsilon);
      ++finite_;
      max_ = r > max_ ? r : max_;
      lanes[i % kLanes] += r;
    }
    for (uint32_t half = kLanes / 2; half > 0; half /= 2)
      for (uint32_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    sum_ += lanes[0];
  });
}

void MeanMaxRelativeSums::merge(const MeanMaxRelativeSums& next) {
  finite_ += next.finite_;
  nonfinite_mismatch_ += next.nonfinite_mismatch_;
  sum_ += next.sum_;
  max_ = std::max(max_, next.max_);
}

}  // namespace ulpscope
