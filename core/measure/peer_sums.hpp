// What the six element columns of `--columns msprobe` are made of. The formulas are those of the older table
// (its zero convention, its replacement of NaN and infinity by 0, its float32 arithmetic), not those of the
// judgement: use them for that table only. Filled by the measuring where the table is asked for, read by
// peer_table.
#pragma once

#include <ulpscope/types.hpp>

#include <cstddef>
#include <cstdint>

namespace ulpscope {

// Sums over the elements of a pair, or of a part of it; parts merge in order. Of a complex element only the
// real part counts. Plain data; one thread at a time.
struct PeerSums {
  int64_t elements = 0;
  int64_t nan_moved = 0, infinity_moved = 0;  // elements that are NaN (infinite) on one side only
  int64_t nonfinite = 0;                      // elements not finite on either side
  int64_t within_1e3 = 0, within_5e3 = 0;     // relative error below 0.001, 0.005
  double max_relative = 0, max_absolute = 0;
  double squared_error = 0, dot = 0, squares_target = 0, squares_golden = 0;
  double first_target = 0, first_golden = 0;  // element 0 as it was read

  // Adds count elements. Bytes are little-endian and need no alignment. A dtype without numbers adds nothing
  // but its count.
  void add(DType target_dtype, const std::byte* target, DType golden_dtype, const std::byte* golden,
           int64_t count);
  void merge(const PeerSums& next_part);
};

// Relative error of the older table, |t - g| / |g| in float32 or float64; where g is 0 the machine epsilon of
// that type is first added to both. single_precision: in float32.
double peer_relative_error(double target, double golden, bool single_precision);

}  // namespace ulpscope
