// The shortest period of the end of a sequence. Used for text and for token numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ulpscope {

struct PeriodicTail {
  size_t period = 0, span = 0;  // elements
};

// The smallest period p <= most_period such that the last span elements repeat with it, span / p >= repeats
// and span >= least_span; excused(p, span) says that one does not count. The Z function of the reversed
// sequence, as far as periods go: z[p] = length of the longest common beginning of it and of it from p on, so
// span = p + z[p]. O(size + most_period) time, O(most_period) memory. Any thread.
template <class Sequence, class Excused>
std::optional<PeriodicTail> periodic_tail(const Sequence& sequence, size_t most_period, double repeats,
                                          double least_span, Excused&& excused) {
  const size_t size = sequence.size();
  const auto at = [&](size_t i) { return sequence[size - 1 - i]; };
  const size_t last = size == 0 ? 0 : std::min(most_period, size - 1);
  std::vector<size_t> z(last + 1, 0);
  size_t left = 0, right = 0;
  for (size_t p = 1; p <= last; ++p) {
    size_t length = p < right ? std::min(right - p, z[p - left]) : 0;
    while (p + length < size && at(length) == at(p + length)) ++length;
    z[p] = length;
    if (p + length > right) {
      left = p;
      right = p + length;
    }
    const size_t span = p + length;
    const bool is_long = static_cast<double>(span) >= repeats * static_cast<double>(p) &&
                         static_cast<double>(span) >= least_span;
    if (is_long && length > 0 && !excused(p, span)) return PeriodicTail{p, span};
  }
  return std::nullopt;
}

}  // namespace ulpscope
