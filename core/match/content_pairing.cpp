#include "match/content_pairing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "index/content_key.hpp"

namespace ulpscope {
namespace {

constexpr double kUnlike = std::numeric_limits<double>::infinity();
// Calls of one kind that are tried against each other: more of them are a loop, not an order.
constexpr size_t kMaxCalls = 64;
// Tensors of one value on two sides are at most so far apart, and another one this many times as far.
constexpr double kAlike = 0.02, kClearly = 8;
// Below this distance all that differs is rounding.
constexpr double kRounding = 1e-4;

double distance(double a, double b, double scale) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return kUnlike;
  return scale > 0 ? std::fabs(a - b) / scale : kUnlike;
}

// How far apart the statistics of two tensors are, on the scale of the golden one. Tensors of which nothing
// is recorded are alike.
double distance(const DumpIndex& target, TensorId t, const DumpIndex& golden, TensorId g) {
  const TensorRow &a = target.tensors()[t], &b = golden.tensors()[g];
  if (a.digest != 0 && b.digest != 0) return target.text(a.digest) == golden.text(b.digest) ? 0 : kUnlike;
  const uint32_t both = a.stats.present & b.stats.present;
  const double extreme = std::max(std::fabs(b.stats.max), std::fabs(b.stats.min));
  double furthest = 0;
  if ((both & ULPSCOPE_STAT_MAX) != 0) furthest = distance(a.stats.max, b.stats.max, extreme);
  if ((both & ULPSCOPE_STAT_MIN) != 0)
    furthest = std::max(furthest, distance(a.stats.min, b.stats.min, extreme));
  if ((both & ULPSCOPE_STAT_L2) != 0)
    furthest = std::max(furthest, distance(a.stats.l2norm, b.stats.l2norm, b.stats.l2norm));
  return furthest;
}

class ContentPairing {
 public:
  ContentPairing(const PairingSide& target, std::span<const OpId> target_ops, const PairingSide& golden,
                 OpPartners& partners)
      : target_(target), golden_(golden), ops_(target_ops), partners_(partners) {}

  void run() {
    collect();
    for (const auto& [kind, calls] : kinds_)
      if (calls.size() > 1 && calls.size() <= kMaxCalls) exchange(calls);
    if (moves_.empty() || !readers_agree()) return;
    for (const auto& [target, golden] : moves_) partners_.pair(target, golden);
  }

 private:
  // Paired calls that read tensors unlike those of their partners, by kind: type, module and shapes.
  void collect() {
    for (const OpId op : ops_) {
      const OpId golden = partners_.golden_of[op];
      if (golden == kNoIndex || partners_.mapped[op] || target_.index.ops()[op].kind != OpKind::api) continue;
      const OpKey &a = target_.keys[op], &b = golden_.keys[golden];
      if (a.stem != b.stem || a.context != b.context || a.shapes != b.shapes) continue;
      if (of_inputs(op, golden) > kRounding) kinds_[mix(mix(a.stem, a.context), a.shapes)].push_back(op);
    }
  }

  // The largest distance of the inputs of two calls; unlike where they take other arguments.
  double of_inputs(OpId target, OpId golden) const {
    const auto t = target_.index.items(target), g = golden_.index.items(golden);
    if (t.size() != g.size()) return kUnlike;
    double furthest = 0;
    for (size_t i = 0; i < t.size(); ++i) {
      if (t[i].role != g[i].role || t[i].role == Role::output || t[i].role == Role::gradient) continue;
      furthest = std::max(furthest, of_items(t[i], g[i]));
    }
    return furthest;
  }

  double of_items(const ItemRow& t, const ItemRow& g) const {
    if ((t.tensor == kNoIndex) != (g.tensor == kNoIndex)) return kUnlike;
    if (t.tensor != kNoIndex) return distance(target_.index, t.tensor, golden_.index, g.tensor);
    const bool is_real = target_.index.text(t.type) == "float";
    return is_real || target_.index.text(t.value) == golden_.index.text(g.value) ? 0 : kUnlike;
  }

  // The calls of a kind that clearly read what the partner of another one reads; none of them when their
  // partners are not the same calls.
  void exchange(const std::vector<OpId>& calls) {
    std::vector<std::pair<OpId, OpId>> moves;
    for (const OpId op : calls)
      if (const auto golden = better_partner(op, calls)) moves.emplace_back(op, *golden);
    std::vector<OpId> before, after;
    for (const auto& [target, golden] : moves) {
      before.push_back(partners_.golden_of[target]);
      after.push_back(golden);
    }
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    if (before != after) return;
    for (const auto& [target, golden] : moves) {
      moves_.emplace(target, golden);
      largest_ = std::max(largest_, of_inputs(target, golden));
    }
  }

  std::optional<OpId> better_partner(OpId op, const std::vector<OpId>& calls) const {
    double best = kUnlike, second = kUnlike;
    OpId found = kNoIndex;
    for (const OpId other : calls) {
      const OpId golden = partners_.golden_of[other];
      const double far = of_inputs(op, golden);
      if (far < best) {
        second = std::exchange(best, far);
        found = golden;
      } else {
        second = std::min(second, far);
      }
    }
    const bool clear = best <= kAlike && second > kClearly * best && second > kRounding;
    if (!clear || found == partners_.golden_of[op]) return std::nullopt;
    return found;
  }

  // Whether what reads the results of the moved calls reads the same on both sides. Were the calls in order
  // and their inputs wrong, it would not.
  bool readers_agree() const {
    const auto results_of = [&](const PairingSide& side, auto op_of) {
      std::unordered_map<uint64_t, OpId> results;  // to the op of the target that they belong to
      for (const auto& move : moves_)
        for (const ItemRow& item : side.index.items(op_of(move)))
          if (item.role == Role::output && item.tensor != kNoIndex)
            if (const ContentKey key = recorded_key(side.index, item.tensor); key.known())
              results.emplace(key.folded(), move.first);
      return results;
    };
    const auto of_target = results_of(target_, [](const auto& move) { return move.first; });
    const auto of_golden = results_of(golden_, [](const auto& move) { return move.second; });
    bool read = false;
    const double allowed = std::max(kClearly * largest_, kRounding);
    for (const OpId op : ops_) {
      const OpId golden = partners_.golden_of[op];
      if (golden == kNoIndex || moves_.contains(op) || target_.index.ops()[op].kind != OpKind::api) continue;
      const auto t = target_.index.items(op), g = golden_.index.items(golden);
      for (size_t i = 0; i < std::min(t.size(), g.size()); ++i) {
        if (t[i].role == Role::output || t[i].tensor == kNoIndex || g[i].tensor == kNoIndex) continue;
        const auto result = of_target.find(recorded_key(target_.index, t[i].tensor).folded());
        if (result == of_target.end()) continue;
        read = true;
        // The result of the same call, however far off, is the same operand.
        const auto same = of_golden.find(recorded_key(golden_.index, g[i].tensor).folded());
        if (same != of_golden.end() && same->second == result->second) continue;
        if (distance(target_.index, t[i].tensor, golden_.index, g[i].tensor) > allowed) return false;
      }
    }
    return read;
  }

  const PairingSide& target_;
  const PairingSide& golden_;
  const std::span<const OpId> ops_;
  OpPartners& partners_;
  std::map<uint64_t, std::vector<OpId>> kinds_;  // calls of the target
  std::unordered_map<OpId, OpId> moves_;         // of the target, to their new partners
  double largest_ = 0;                           // distance of the inputs of the new pairs
};

}  // namespace

void pair_by_content(const PairingSide& target, std::span<const OpId> target_ops, const PairingSide& golden,
                     OpPartners& partners) {
  ContentPairing(target, target_ops, golden, partners).run();
}

}  // namespace ulpscope
