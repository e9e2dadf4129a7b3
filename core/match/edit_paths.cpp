#include "match/edit_paths.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace ulpscope {
namespace {

constexpr int32_t kUnreached = -1;

enum Step : uint8_t { none, pair, right, down };

}  // namespace

// Neighbours on the grid differ by exactly one edit, so a step that would leave the grid may be cut back to
// its border: the place there is reached with d edits as well.
int32_t EditPaths::Reach::begin_of(int32_t d, int32_t k, int32_t n, int32_t m) const {
  if (k < -m || k > n) return kUnreached;
  if (d == 0) return 0;
  const int32_t left = at(d - 1, k - 1), above = at(d - 1, k + 1);
  const int32_t x = std::max(left == kUnreached ? kUnreached : left + 1, above);
  return x == kUnreached ? x : std::min({x, n, m + k});
}

template <class Equal>
bool EditPaths::Reach::fill(int32_t n, int32_t m, int32_t max_edits, int64_t& steps_left, Equal equal) {
  for (int32_t d = 0; d <= max_edits; ++d) {
    if (d > 0 && steps_left < 0) return false;
    rows_.resize(place(d + 1, -d - 1));
    for (int32_t k = -d; k <= d; k += 2) {
      int32_t x = begin_of(d, k, n, m);
      if (x != kUnreached) {
        const int32_t from = x;
        while (x < n && x - k < m && equal(x, x - k)) ++x;
        steps_left -= x - from + 1;
      }
      rows_[place(d, k)] = x;
    }
    depth_ = d;
    if ((n - m + d) % 2 == 0 && at(d, n - m) == n) return true;
  }
  return false;
}

EditPaths::EditPaths(std::span<const uint64_t> a, std::span<const uint64_t> b, int32_t max_edits,
                     int64_t& steps_left)
    : a_(a), b_(b), n_(static_cast<int32_t>(a.size())), m_(static_cast<int32_t>(b.size())) {
  assert(a.size() < INT32_MAX / 2 && b.size() < INT32_MAX / 2);
  complete_ = forth_.fill(n_, m_, max_edits, steps_left, [&](int32_t x, int32_t y) {
    return a_[static_cast<size_t>(x)] == b_[static_cast<size_t>(y)];
  });
  edits_ = forth_.depth();
  if (complete_) make_runs();
}

void EditPaths::make_runs() {
  Reach back;
  int64_t free_steps = std::numeric_limits<int64_t>::max();  // as many edits as forth; not limited again
  back.fill(n_, m_, edits_, free_steps, [&](int32_t x, int32_t y) {
    return a_[static_cast<size_t>(n_ - 1 - x)] == b_[static_cast<size_t>(m_ - 1 - y)];
  });
  assert(back.depth() == edits_);
  for (int32_t d = 0; d <= edits_; ++d)
    for (int32_t k = -d; k <= d; k += 2) {
      Run run;
      const int32_t rest = edits_ - d, k_back = n_ - m_ - k;  // the same diagonal seen from the end
      const int32_t far = forth_.at(d, k), far_back = back.at(rest, k_back);
      if (far != kUnreached && far_back != kUnreached) {
        run.first = std::max(n_ - far_back, forth_.at(d - 2, k) + 1);
        const int32_t less_back = back.at(rest - 2, k_back);
        run.last = less_back == kUnreached ? far : std::min(far, n_ - less_back - 1);
      }
      run.offset = place_count_;
      if (run.last >= run.first) place_count_ += run.last - run.first + 1;
      runs_.push_back(run);
    }
}

EditPaths::Progress EditPaths::trace(int32_t x, int32_t k, int32_t d, int32_t keep) const {
  Progress progress;
  bool ended = false;
  while (x > 0 || x - k > 0) {
    const int32_t y = x - k;
    if (!ended && d <= keep) {
      ended = true;
      progress.a_end = static_cast<size_t>(x);
      progress.b_end = static_cast<size_t>(y);
    }
    const bool equal = x > 0 && y > 0 && a_[static_cast<size_t>(x - 1)] == b_[static_cast<size_t>(y - 1)];
    if (equal && x - 1 > forth_.at(d - 2, k)) {
      --x;
      if (ended) progress.pairs.emplace_back(x, y - 1);
    } else if (x > 0 && x - 1 <= forth_.at(d - 1, k - 1) && x - 1 > forth_.at(d - 3, k - 1)) {
      --x, --k, --d;
    } else {
      assert(y > 0 && x <= forth_.at(d - 1, k + 1));
      ++k, --d;
    }
  }
  std::reverse(progress.pairs.begin(), progress.pairs.end());
  return progress;
}

EditPaths::Pairs EditPaths::any_path() const { return trace(n_, n_ - m_, edits_, edits_).pairs; }

EditPaths::Progress EditPaths::progress() const {
  int32_t best_k = 0, best = -1;
  for (int32_t k = -edits_; k <= edits_; k += 2) {
    const int32_t x = forth_.at(edits_, k);
    if (x != kUnreached && 2 * x - k > best) {
      best = 2 * x - k;
      best_k = k;
    }
  }
  // The end of a path that was cut off is a guess; its first half no longer depends on what follows.
  return trace(forth_.at(edits_, best_k), best_k, edits_, std::max(1, edits_ / 2));
}

const EditPaths::Run& EditPaths::run(int32_t d, int32_t k) const {
  static constexpr Run kEmpty;
  if (d < 0 || k < -d || k > d) return kEmpty;
  return runs_[static_cast<size_t>(d) * (static_cast<size_t>(d) + 1) / 2 + static_cast<size_t>((k + d) / 2)];
}

// score(d, k, x) = the most liked pairs on a shortest path from the start to this place. Among equal scores a
// pair is preferred to a step right, and that to a step down.
void EditPaths::score_row(int32_t d, const Liked& liked, Scores& scores) const {
  scores.now.assign(static_cast<size_t>(row_end(d) - run(d, -d).offset), 0);
  for (int32_t k = -d; k <= d; k += 2) {
    const Run &here = run(d, k), &left = run(d - 1, k - 1), &above = run(d - 1, k + 1);
    int32_t score = -1;  // of the place before on this diagonal
    for (int32_t x = here.first; x <= here.last; ++x) {
      const auto ax = static_cast<size_t>(x - 1), by = static_cast<size_t>(x - 1 - k);
      int32_t best = -1;
      Step step = Step::none;
      if (x > here.first && a_[ax] == b_[by]) {
        best = score + (liked(ax, by) ? 1 : 0);
        step = Step::pair;
      }
      if (left.holds(x - 1) && scores.before_at(left, x - 1) > best) {
        best = scores.before_at(left, x - 1);
        step = Step::right;
      }
      if (above.holds(x) && scores.before_at(above, x) > best) {
        best = scores.before_at(above, x);
        step = Step::down;
      }
      score = std::max(best, 0);
      const int64_t place = here.offset + x - here.first;
      scores.now[static_cast<size_t>(place - run(d, -d).offset)] = score;
      scores.steps[static_cast<size_t>(place)] = step;
    }
  }
}

int32_t EditPaths::Scores::before_at(const Run& run, int32_t x) const {
  return before[static_cast<size_t>(run.offset + x - run.first - base_before)];
}

int64_t EditPaths::row_end(int32_t d) const {
  const Run& last = run(d, d);
  return last.offset + std::max(0, last.last - last.first + 1);
}

EditPaths::Pairs EditPaths::best_path(const Liked& liked) const {
  Scores scores;
  scores.steps.assign(static_cast<size_t>(place_count_), Step::none);
  for (int32_t row = 0; row <= edits_; ++row) {
    score_row(row, liked, scores);
    scores.before.swap(scores.now);
    scores.base_before = run(row, -row).offset;
  }
  Pairs pairs;
  int32_t x = n_, k = n_ - m_, d = edits_;
  while (x > 0 || x - k > 0) {
    const Run& here = run(d, k);
    const uint8_t step = scores.steps[static_cast<size_t>(here.offset + x - here.first)];
    assert(step != Step::none);
    if (step == Step::pair) {
      --x;
      pairs.emplace_back(x, x - k);
    } else {
      --d;
      if (step == Step::right) --x, --k;
      if (step == Step::down) ++k;
    }
  }
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace ulpscope
