#include "match/alignment.hpp"

#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "match/edit_paths.hpp"

// A grid of x (positions of a) by y (positions of b). A step right drops a call of a, a step down one of b, a
// diagonal step pairs two calls of equal key:
//
//        b0 b1 b2        diagonal k = x - y
//   a0    \  .  .        a path from (0, 0) to (n, m) with d straight steps
//   a1    |\ .  .        leaves (n + m - d) / 2 pairs
//   a2    .  \  .
//
// edit_paths finds all places on shortest paths; here the best of those paths is chosen, and what to do when
// there are too many edits.
namespace ulpscope {
namespace {

constexpr int kMaxDepth = 24;  // of cutting at unique keys

struct Piece {
  size_t a_first, a_last, b_first, b_last;  // half-open
};

KeySequence part(const KeySequence& s, size_t first, size_t last) {
  return {s.keys.subspan(first, last - first), s.names.subspan(first, last - first)};
}

bool same_name(const KeySequence& a, const KeySequence& b, size_t x, size_t y) {
  return a.names[x] != 0 && a.names[x] == b.names[y];
}

// The longest ascending subsequence of pairs, which are sorted by their first member.
Alignment ascending(const Alignment& pairs) {
  std::vector<uint32_t> ends;  // for each length the pair that ends it lowest
  std::vector<int64_t> before(pairs.size(), -1);
  for (uint32_t i = 0; i < pairs.size(); ++i) {
    const auto at = std::lower_bound(ends.begin(), ends.end(), i, [&](uint32_t end, uint32_t candidate) {
      return pairs[end].second < pairs[candidate].second;
    });
    if (at != ends.begin()) before[i] = *(at - 1);
    if (at == ends.end())
      ends.push_back(i);
    else
      *at = i;
  }
  Alignment out;
  for (int64_t i = ends.empty() ? -1 : int64_t{ends.back()}; i >= 0; i = before[static_cast<size_t>(i)])
    out.push_back(pairs[static_cast<size_t>(i)]);
  std::reverse(out.begin(), out.end());
  return out;
}

// Pairs of positions with equal marks, where the mark stands once on both sides.
Alignment unique_pairs(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  struct Seen {
    uint32_t a_count = 0, b_count = 0, b_at = 0;
  };
  std::unordered_map<uint64_t, Seen> seen;
  seen.reserve(a.size());
  for (const uint64_t mark : a) ++seen[mark].a_count;
  for (uint32_t y = 0; y < b.size(); ++y)
    if (const auto found = seen.find(b[y]); found != seen.end()) {
      ++found->second.b_count;
      found->second.b_at = y;
    }
  Alignment pairs;
  for (uint32_t x = 0; x < a.size(); ++x) {
    const Seen& s = seen[a[x]];
    if (s.a_count == 1 && s.b_count == 1) pairs.emplace_back(x, s.b_at);
  }
  return pairs;
}

// The i-th call of a key with the i-th of the other side, as far as that keeps both orders.
Alignment by_appearance(const KeySequence& a, const KeySequence& b) {
  std::unordered_map<uint64_t, std::vector<uint32_t>> places;
  for (uint32_t y = 0; y < b.keys.size(); ++y) places[b.keys[y]].push_back(y);
  std::unordered_map<uint64_t, size_t> used;
  Alignment pairs;
  for (uint32_t x = 0; x < a.keys.size(); ++x) {
    const auto found = places.find(a.keys[x]);
    if (found == places.end()) continue;
    size_t& next = used[a.keys[x]];
    if (next < found->second.size()) pairs.emplace_back(x, found->second[next++]);
  }
  return ascending(pairs);
}

class Aligner {
 public:
  Aligner(const KeySequence& a, const KeySequence& b, const AlignLimits& limits)
      : a_(a), b_(b), limits_(limits), steps_left_(limits.max_steps) {}

  Alignment run() {
    add({0, a_.keys.size(), 0, b_.keys.size()}, 0);
    return std::move(out_);
  }

 private:
  void add(Piece piece, int depth) {
    bool cut = depth < kMaxDepth;  // whether to look for keys to cut at
    while (piece.a_first < piece.a_last && piece.b_first < piece.b_last) {
      const KeySequence a = part(a_, piece.a_first, piece.a_last), b = part(b_, piece.b_first, piece.b_last);
      const EditPaths paths(a.keys, b.keys, limits_.max_edits, steps_left_);
      if (paths.complete()) {
        append(shortest(paths, a, b), piece);
        return;
      }
      if (cut) {
        const Alignment anchors = ascending(unique_pairs(a.keys, b.keys));
        if (!anchors.empty()) return add_between(anchors, piece, depth);
        cut = false;
      }
      if (steps_left_ < 0) {
        append(by_appearance(a, b), piece);
        return;
      }
      const EditPaths::Progress progress = paths.progress();
      append(progress.pairs, piece);
      piece.a_first += progress.a_end;
      piece.b_first += progress.b_end;
    }
  }

  void add_between(const Alignment& anchors, const Piece& piece, int depth) {
    size_t x = piece.a_first, y = piece.b_first;
    for (const auto& [ax, by] : anchors) {
      add({x, piece.a_first + ax, y, piece.b_first + by}, depth + 1);
      append({{ax, by}}, piece);
      x = piece.a_first + ax + 1;
      y = piece.b_first + by + 1;
    }
    add({x, piece.a_last, y, piece.b_last}, depth + 1);
  }

  void append(const Alignment& pairs, const Piece& piece) {
    for (const auto& [x, y] : pairs)
      out_.emplace_back(static_cast<uint32_t>(piece.a_first + x), static_cast<uint32_t>(piece.b_first + y));
  }

  Alignment shortest(const EditPaths& paths, const KeySequence& a, const KeySequence& b) const {
    if (paths.place_count() > limits_.max_places) return paths.any_path();
    return paths.best_path([&](size_t x, size_t y) { return same_name(a, b, x, y); });
  }

  const KeySequence a_, b_;
  const AlignLimits limits_;
  int64_t steps_left_;
  Alignment out_;
};

}  // namespace

Alignment align(const KeySequence& a, const KeySequence& b, const AlignLimits& limits) {
  assert(a.keys.size() == a.names.size() && b.keys.size() == b.names.size());
  // One order of the two, whichever way they are given: ties then fall the same way in both directions.
  const bool swapped =
      a.keys.size() != b.keys.size()
          ? a.keys.size() > b.keys.size()
          : std::lexicographical_compare(b.keys.begin(), b.keys.end(), a.keys.begin(), a.keys.end());
  if (!swapped) return Aligner(a, b, limits).run();
  Alignment out = Aligner(b, a, limits).run();
  for (auto& [x, y] : out) std::swap(x, y);
  return out;
}

}  // namespace ulpscope
