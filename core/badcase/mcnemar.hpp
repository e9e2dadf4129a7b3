// Whether two runs on the same samples differ by more than chance: the exact test of McNemar. Pure.
#pragma once

#include <cstdint>
#include <optional>

namespace ulpscope {

// p = min(1, 2 * sum over i = 0..min(b, c) of C(b + c, i) / 2^(b + c)); 1 if b + c = 0.
double mcnemar_p(int64_t b, int64_t c);

// How many samples would show the difference of these rates of b and c in paired samples: the least number
// from paired on with p < 0.05. Nothing where b <= c, or no less than a billion would.
std::optional<int64_t> samples_needed(int64_t b, int64_t c, int64_t paired);

inline constexpr double kSignificance = 0.05;

}  // namespace ulpscope
