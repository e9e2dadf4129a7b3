// Aligns two sequences of keys: the longest common subsequence, and among those of equal length one with the
// most equal names. The core of the pairing of calls; knows nothing of dumps. Pure, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ulpscope {

// keys and names have the same length. A name of 0 equals no other.
struct KeySequence {
  std::span<const uint64_t> keys, names;
};

// Positions of equal keys, ascending in both members.
using Alignment = std::vector<std::pair<uint32_t, uint32_t>>;

struct AlignLimits {
  // Edits up to which the result is exact. Beyond, sequences are cut at keys that are unique on both sides,
  // and where there are none, settled piece by piece along the furthest path.
  int32_t max_edits = 2048;
  // Steps of comparison for one call, its parts included; when used up, order of appearance decides.
  int64_t max_steps = int64_t{1} << 31;
  // Places that the search for equal names may hold (a byte each).
  int64_t max_places = int64_t{1} << 26;
};

// align(a, b) and align(b, a) give the same pairs. Time O((n + m) d) for d edits, bounded by the
// limits; memory O(d² + n + m).
Alignment align(const KeySequence& a, const KeySequence& b, const AlignLimits& limits = {});

}  // namespace ulpscope
