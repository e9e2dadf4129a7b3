#include "badcase/mcnemar.hpp"

#include <algorithm>
#include <cmath>

namespace ulpscope {
namespace {

// Above this 2^-n is below the least double.
constexpr int64_t kMostDirect = 1000;
// Terms this far below the largest one add nothing to a double.
constexpr double kNegligibleLog = -80;

double small_tail(int64_t n, int64_t last) {
  double term = std::ldexp(1.0, static_cast<int>(-n)), sum = term;
  for (int64_t i = 0; i < last; ++i) {
    term = term * static_cast<double>(n - i) / static_cast<double>(i + 1);
    sum += term;
  }
  return sum;
}

// Terms fall from the last one on: summed from there, until they add nothing.
double large_tail(int64_t n, int64_t last) {
  const double size = static_cast<double>(n);
  const auto log_term = [&](int64_t i) {
    const auto k = static_cast<double>(i);
    return std::lgamma(size + 1) - std::lgamma(k + 1) - std::lgamma(size - k + 1) - size * std::log(2.0);
  };
  const double largest = log_term(last);
  double sum = 0;
  for (int64_t i = last; i >= 0; --i) {
    const double relative = log_term(i) - largest;
    if (relative < kNegligibleLog) break;
    sum += std::exp(relative);
  }
  return sum * std::exp(largest);
}

}  // namespace

double mcnemar_p(int64_t b, int64_t c) {
  const int64_t n = b + c, last = std::min(b, c);
  if (n == 0) return 1;
  const double tail = n <= kMostDirect ? small_tail(n, last) : large_tail(n, last);
  return std::min(1.0, 2 * tail);
}

std::optional<int64_t> samples_needed(int64_t b, int64_t c, int64_t paired) {
  constexpr int64_t kMost = 1'000'000'000;
  if (b <= c || paired <= 0) return std::nullopt;
  const double n = static_cast<double>(b + c);
  const double share = static_cast<double>(b) / n, rate = n / static_cast<double>(paired);
  // Of k samples that differ, share are of the first kind.
  const auto is_enough = [&](int64_t k) {
    const auto first = static_cast<int64_t>(std::llround(share * static_cast<double>(k)));
    return first > k - first && mcnemar_p(first, k - first) < kSignificance;
  };
  int64_t low = b + c, high = low;
  while (!is_enough(high)) {
    low = high;
    high *= 2;
    if (static_cast<double>(high) / rate > static_cast<double>(kMost)) return std::nullopt;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  return std::max(paired, static_cast<int64_t>(std::ceil(static_cast<double>(high) / rate)));
}

}  // namespace ulpscope
