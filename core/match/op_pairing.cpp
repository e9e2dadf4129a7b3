#include "match/op_pairing.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "match/alignment.hpp"
#include "match/content_pairing.hpp"

namespace ulpscope {
namespace {

// Calls that cross others are the same only if they stand close: further apart, a call added here and one of
// the same API left out there is more likely than one that moved. In calls between the two places.
constexpr int64_t kMaxMove = 8;

// What calls are recognised by, from strict to lax. Within the gaps that one leaves the next one is tried.
// The module around a call that both dumps have counts always: the same calls in another one are others.
enum class Level : uint8_t { full, stem };
constexpr Level kLevels[] = {Level::full, Level::stem};

uint64_t key_of(const OpKey& key, Level level) {
  const uint64_t in_module = mix(key.stem, key.context);
  return level == Level::full ? mix(in_module, key.shapes) : in_module;
}

// One side of a sequence to align: the free ops of one direction.
struct Sequence {
  std::vector<OpId> ops;
  std::vector<uint64_t> names;  // what an op would like its partner's name to be; 0: no wish
};

// The stretch between two pairs that stand.
struct Gap {
  size_t a_first, a_last, b_first, b_last;
};

using Lists = std::unordered_map<uint64_t, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>>;

class SequencePairing {
 public:
  SequencePairing(const PairingSide& target, Sequence a, const PairingSide& golden, Sequence b, bool fuzzy,
                  OpPartners& partners)
      : target_(target),
        golden_(golden),
        a_(std::move(a)),
        b_(std::move(b)),
        fuzzy_(fuzzy),
        partners_(partners) {}

  void run() {
    if (a_.ops.empty() || b_.ops.empty()) return;
    if (!fuzzy_ && same_names()) return;
    shapes_agree_ = most_shapes_agree();
    for (size_t i = 0; i < a_.ops.size(); ++i) ++surplus_[key_of(key_a(i), Level::stem)];
    for (size_t j = 0; j < b_.ops.size(); ++j) --surplus_[key_of(key_b(j), Level::stem)];
    refine({0, a_.ops.size(), 0, b_.ops.size()}, 0);
    if (!fuzzy_) pair_equal_names();
    pair_whole_stems();
    pair_moved();
  }

 private:
  const OpKey& key_a(size_t i) const { return target_.keys[a_.ops[i]]; }
  const OpKey& key_b(size_t i) const { return golden_.keys[b_.ops[i]]; }
  bool free_a(size_t i) const { return partners_.free_target(a_.ops[i]); }
  bool free_b(size_t i) const { return partners_.free_golden(b_.ops[i]); }
  void pair(size_t i, size_t j) { partners_.pair(a_.ops[i], b_.ops[j]); }

  // The same calls in the same order by name: nothing was added or left out, and a shape that differs is a
  // difference of data (a routing choice, a number of non-zeros). The same when all keys agree and the names
  // are the same in another order.
  bool same_names() {
    if (a_.ops.size() != b_.ops.size()) return false;
    size_t names = 0, keys = 0;
    for (size_t i = 0; i < a_.ops.size(); ++i) {
      names += same_name(i) ? 1 : 0;
      keys += key_of(key_a(i), Level::full) == key_of(key_b(i), Level::full) ? 1 : 0;
    }
    if (names == a_.ops.size() && keys * 2 >= names) {
      for (size_t i = 0; i < a_.ops.size(); ++i) pair(i, i);
      return true;
    }
    return keys == a_.ops.size() && same_names_in_another_order();
  }

  bool most_shapes_agree() const {
    std::unordered_map<uint64_t, int64_t> surplus;
    for (size_t i = 0; i < a_.ops.size(); ++i) ++surplus[key_of(key_a(i), Level::full)];
    size_t common = 0;
    for (size_t j = 0; j < b_.ops.size(); ++j) common += surplus[key_of(key_b(j), Level::full)]-- > 0 ? 1 : 0;
    return common * 2 >= std::max(a_.ops.size(), b_.ops.size());
  }

  bool same_name(size_t i) const {
    if (a_.names[i] == 0 && b_.names[i] == 0) return key_a(i).name == key_b(i).name;
    return a_.names[i] == b_.names[i];
  }

  // Ops without a wish (gradients, whose numbers say nothing) keep their places.
  bool same_names_in_another_order() {
    std::unordered_map<uint64_t, uint32_t> of_b;
    for (uint32_t j = 0; j < b_.ops.size(); ++j) {
      if ((a_.names[j] == 0) != (b_.names[j] == 0)) return false;
      if (b_.names[j] != 0 && !of_b.emplace(b_.names[j], j).second) return false;
    }
    std::vector<uint32_t> partner(a_.ops.size());
    std::vector<bool> used(b_.ops.size(), false);
    for (uint32_t i = 0; i < a_.ops.size(); ++i) {
      if (a_.names[i] == 0) {
        partner[i] = i;
        continue;
      }
      const auto found = of_b.find(a_.names[i]);
      if (found == of_b.end() || used[found->second] || key_a(i).stem != key_b(found->second).stem)
        return false;
      used[found->second] = true;
      partner[i] = found->second;
    }
    for (size_t i = 0; i < partner.size(); ++i) pair(i, partner[i]);
    return true;
  }

  static bool same_calls(std::vector<uint64_t> a, std::vector<uint64_t> b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
  }

  // Whether nothing but their order or their numbers speaks for two calls of which one side makes more than
  // the other, in runs whose shapes agree elsewhere.
  bool shape_says_other(const OpKey& a, const OpKey& b) const {
    if (!shapes_agree_ || a.shapes == b.shapes) return false;
    const auto more = surplus_.find(key_of(a, Level::stem));
    return more != surplus_.end() && more->second != 0;
  }

  void refine(const Gap& gap, size_t level) {
    if (level >= std::size(kLevels) || gap.a_first == gap.a_last || gap.b_first == gap.b_last) return;
    std::vector<uint64_t> a_keys, b_keys;
    for (size_t i = gap.a_first; i < gap.a_last; ++i) a_keys.push_back(key_of(key_a(i), kLevels[level]));
    for (size_t j = gap.b_first; j < gap.b_last; ++j) b_keys.push_back(key_of(key_b(j), kLevels[level]));
    const bool irregular = shapes_agree_ && kLevels[level] != Level::full && !same_calls(a_keys, b_keys);
    const KeySequence a = {a_keys, std::span(a_.names).subspan(gap.a_first, a_keys.size())};
    const KeySequence b = {b_keys, std::span(b_.names).subspan(gap.b_first, b_keys.size())};
    size_t i = gap.a_first, j = gap.b_first;
    for (const auto& [x, y] : align(a, b)) {
      const size_t ax = gap.a_first + x, by = gap.b_first + y;
      if (irregular && shape_says_other(key_a(ax), key_b(by))) continue;
      pair(ax, by);
      refine({i, ax, j, by}, level + 1);
      i = ax + 1;
      j = by + 1;
    }
    refine({i, gap.a_last, j, gap.b_last}, level + 1);
  }

  // Calls of one name that stand elsewhere on the other side. Of several of one name the first ones.
  void pair_equal_names() {
    std::unordered_map<uint64_t, std::vector<uint32_t>> of_b;
    for (uint32_t j = 0; j < b_.ops.size(); ++j)
      if (free_b(j) && b_.names[j] != 0) of_b[b_.names[j]].push_back(j);
    for (auto& [name, places] : of_b) std::reverse(places.begin(), places.end());
    for (size_t i = 0; i < a_.ops.size(); ++i) {
      if (!free_a(i)) continue;
      const auto found = of_b.find(a_.names[i]);
      if (found == of_b.end() || found->second.empty()) continue;
      const OpKey &a = key_a(i), &b = key_b(found->second.back());
      if (key_of(a, Level::stem) != key_of(b, Level::stem) || shape_says_other(a, b)) continue;
      pair(i, found->second.back());
      found->second.pop_back();
    }
  }

  // An API or module of which no call is paired yet, on both sides: order of appearance is all there is. In
  // runs whose shapes agree elsewhere it is no more than a guess where one side makes more calls.
  void pair_whole_stems() {
    Lists lists;
    std::unordered_map<uint64_t, bool> touched;
    for (uint32_t i = 0; i < a_.ops.size(); ++i) {
      if (!free_a(i)) touched[key_a(i).stem] = true;
      if (free_a(i)) lists[key_a(i).stem].first.push_back(i);
    }
    for (uint32_t j = 0; j < b_.ops.size(); ++j)
      if (free_b(j)) lists[key_b(j).stem].second.push_back(j);
    for (const auto& [stem, places] : lists) {
      if (touched.contains(stem)) continue;
      const auto& [of_a, of_b] = places;
      for (size_t k = 0; k < std::min(of_a.size(), of_b.size()); ++k)
        if (!shape_says_other(key_a(of_a[k]), key_b(of_b[k]))) pair(of_a[k], of_b[k]);
    }
  }

  // A call that changed its place among its neighbours: equal in everything but the order.
  void pair_moved() {
    Lists lists;
    const std::vector<int64_t> a_places = places_on(a_.ops, partners_.golden_of);
    const std::vector<int64_t> b_places = places_on(b_.ops, partners_.target_of);
    for (uint32_t i = 0; i < a_.ops.size(); ++i)
      if (free_a(i)) lists[key_of(key_a(i), Level::full)].first.push_back(i);
    for (uint32_t j = 0; j < b_.ops.size(); ++j)
      if (free_b(j)) lists[key_of(key_b(j), Level::full)].second.push_back(j);
    for (const auto& [key, places] : lists) {
      // All calls of a kind in a module moved together, as far as they like.
      const bool whole = places.first.size() == places.second.size() && key_a(places.first[0]).context != 0;
      size_t i = 0, j = 0;
      while (i < places.first.size() && j < places.second.size()) {
        const int64_t ax = a_places[places.first[i]], by = b_places[places.second[j]];
        if (whole || std::abs(ax - by) <= kMaxMove)
          pair(places.first[i++], places.second[j++]);
        else if (ax < by)
          ++i;
        else
          ++j;
      }
    }
  }

  // For each op how many paired ops stand before it: a measure of place that both sides share.
  static std::vector<int64_t> places_on(const std::vector<OpId>& ops, const std::vector<OpId>& partner_of) {
    std::vector<int64_t> places(ops.size());
    int64_t paired = 0;
    for (size_t i = 0; i < ops.size(); ++i) {
      places[i] = paired;
      paired += partner_of[ops[i]] != kNoIndex ? 1 : 0;
    }
    return places;
  }

  const PairingSide& target_;
  const PairingSide& golden_;
  const Sequence a_, b_;
  const bool fuzzy_;
  OpPartners& partners_;
  std::unordered_map<uint64_t, int64_t> surplus_;  // calls of a kind in a module: those of a over those of b
  bool shapes_agree_ = false;  // most calls of either side have one of the same kind and shapes on the other
};

bool is_backward(const PairingSide& side, OpId op) {
  const OpRow& row = side.index.ops()[op];
  return row.phase == Phase::backward;
}

Sequence free_ops(const PairingSide& side, std::span<const OpId> ops, const std::vector<OpId>& partner_of,
                  bool backward, bool fuzzy) {
  Sequence sequence;
  for (const OpId op : ops) {
    if (partner_of[op] != kNoIndex || is_backward(side, op) != backward) continue;
    sequence.ops.push_back(op);
    // Numbers of gradients may count over steps: only their order counts.
    const bool wish = !fuzzy && !side.keys[op].gradient;
    sequence.names.push_back(wish ? side.keys[op].name : 0);
  }
  return sequence;
}

// The backward entries of calls that have one each, by call.
std::unordered_map<uint64_t, OpId> single_backwards(const PairingSide& side, std::span<const OpId> ops) {
  std::unordered_map<uint64_t, OpId> of_call;
  for (const OpId op : ops) {
    if (!is_backward(side, op) || side.keys[op].gradient) continue;
    const auto [entry, fresh] = of_call.try_emplace(side.keys[op].call, op);
    if (!fresh) entry->second = kNoIndex;
  }
  return of_call;
}

// The backward entries of two paired forward calls are a pair, wherever they stand.
void pair_by_forward(const PairingSide& target, std::span<const OpId> target_ops, const PairingSide& golden,
                     std::span<const OpId> golden_ops, OpPartners& partners) {
  const auto of_target = single_backwards(target, target_ops),
             of_golden = single_backwards(golden, golden_ops);
  if (of_target.empty() || of_golden.empty()) return;
  for (const OpId forward : target_ops) {
    const OpId partner = partners.golden_of[forward];
    if (partner == kNoIndex || is_backward(target, forward)) continue;
    const auto t = of_target.find(target.keys[forward].call), g = of_golden.find(golden.keys[partner].call);
    if (t == of_target.end() || g == of_golden.end() || t->second == kNoIndex || g->second == kNoIndex)
      continue;
    if (target.keys[t->second].stem == golden.keys[g->second].stem && partners.free_target(t->second) &&
        partners.free_golden(g->second))
      partners.pair(t->second, g->second);
  }
}

// A backward entry belongs to the partner of its forward call, whatever the numbers say: its wish becomes the
// name of that partner's backward entry. Where that says nothing its own name counts, unless the call of that
// name has its forward call elsewhere.
void wish_by_forward(const PairingSide& target, std::span<const OpId> target_ops, const PairingSide& golden,
                     std::span<const OpId> golden_ops, const OpPartners& partners, Sequence& backward) {
  std::unordered_map<uint64_t, OpId> forward_of, golden_forward, golden_backward;
  for (const OpId op : target_ops)
    if (!is_backward(target, op)) forward_of.emplace(target.keys[op].call, op);
  for (const OpId op : golden_ops)
    (is_backward(golden, op) ? golden_backward : golden_forward).emplace(golden.keys[op].call, op);
  for (size_t i = 0; i < backward.ops.size(); ++i) {
    const uint64_t call = target.keys[backward.ops[i]].call;
    const auto forward = forward_of.find(call);
    if (forward == forward_of.end() || backward.names[i] == 0) continue;
    if (golden_forward.contains(call)) backward.names[i] = 0;
    const OpId partner = partners.golden_of[forward->second];
    if (partner == kNoIndex) continue;
    const auto wish = golden_backward.find(golden.keys[partner].call);
    if (wish != golden_backward.end()) backward.names[i] = golden.keys[wish->second].name;
  }
}

}  // namespace

void pair_ops(const PairingSide& target, std::span<const OpId> target_ops, const PairingSide& golden,
              std::span<const OpId> golden_ops, bool fuzzy, OpPartners& partners) {
  for (const bool backward : {false, true}) {
    if (backward) pair_by_forward(target, target_ops, golden, golden_ops, partners);
    Sequence a = free_ops(target, target_ops, partners.golden_of, backward, fuzzy);
    Sequence b = free_ops(golden, golden_ops, partners.target_of, backward, fuzzy);
    if (backward && !a.ops.empty() && !b.ops.empty())
      wish_by_forward(target, target_ops, golden, golden_ops, partners, a);
    SequencePairing(target, std::move(a), golden, std::move(b), fuzzy, partners).run();
    if (!backward) pair_by_content(target, target_ops, golden, partners);
  }
}

}  // namespace ulpscope
