// All shortest edit paths between two sequences (Myers, "An O(ND) Difference Algorithm and Its Variations"),
// kept as the places that lie on one of them, and the choice of one path. Used by the alignment only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ulpscope {

class EditPaths {
 public:
  using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;
  using Liked = std::function<bool(size_t x, size_t y)>;

  // Searches until both ends are reached, or max_edits edits or steps_left steps are used up (it counts
  // down). The sequences must outlive the result.
  EditPaths(std::span<const uint64_t> a, std::span<const uint64_t> b, int32_t max_edits, int64_t& steps_left);

  // Whether the ends were reached: the three answers that follow are for this case only.
  bool complete() const { return complete_; }
  // How many places lie on a shortest path, counted once for each.
  int64_t place_count() const { return place_count_; }
  // One shortest path, whichever.
  Pairs any_path() const;
  // The shortest path with the most pairs that are liked. Memory: a byte for each place.
  Pairs best_path(const Liked& liked) const;
  // For a search that did not reach the ends: the better half of the furthest path, to go on from its end.
  struct Progress {
    Pairs pairs;
    size_t a_end = 0, b_end = 0;  // both sequences are settled up to here
  };
  Progress progress() const;

 private:
  // The furthest x reached on each diagonal with exactly d edits, for d = 0, 1, …: row d holds diagonals
  // -d, -d + 2, …, d.
  class Reach {
   public:
    int32_t at(int32_t d, int32_t k) const { return has(d, k) ? rows_[place(d, k)] : -1; }
    bool has(int32_t d, int32_t k) const { return d >= 0 && k >= -d && k <= d; }
    int32_t depth() const { return depth_; }
    // Fills rows until (n, m) is reached, which it answers, or a limit.
    template <class Equal>
    bool fill(int32_t n, int32_t m, int32_t max_edits, int64_t& steps_left, Equal equal);

   private:
    static size_t place(int32_t d, int32_t k) {
      return static_cast<size_t>(d) * (static_cast<size_t>(d) + 1) / 2 + static_cast<size_t>((k + d) / 2);
    }
    int32_t begin_of(int32_t d, int32_t k, int32_t n, int32_t m) const;
    int32_t depth_ = -1;  // the last d that is filled
    std::vector<int32_t> rows_;
  };

  // The places of one diagonal that are d edits from the start and edits - d from the end: first <= x <=
  // last.
  struct Run {
    int32_t first = 0, last = -1;
    int64_t offset = 0;  // of its first place, counted over all runs
    bool holds(int32_t x) const { return x >= first && x <= last; }
  };

  struct Scores {
    std::vector<int32_t> now, before;  // of the places with d and with d - 1 edits
    int64_t base_before = 0;           // offset of the first place of before
    std::vector<uint8_t> steps;        // by place: how it was best reached
    int32_t before_at(const Run& run, int32_t x) const;
  };

  void make_runs();
  // The pairs of a shortest path from the start to x on diagonal k with d edits; those before keep edits
  // only.
  Progress trace(int32_t x, int32_t k, int32_t d, int32_t keep) const;
  const Run& run(int32_t d, int32_t k) const;
  int64_t row_end(int32_t d) const;
  void score_row(int32_t d, const Liked& liked, Scores& scores) const;

  std::span<const uint64_t> a_, b_;
  int32_t n_, m_;
  bool complete_ = false;
  int32_t edits_ = 0;
  Reach forth_;
  int64_t place_count_ = 0;
  std::vector<Run> runs_;  // by d, then diagonal as in Reach
};

}  // namespace ulpscope
