#include "match/group_pairing.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace ulpscope {
namespace {

constexpr size_t kMaxListed = 20;

using Numbers = std::set<int32_t>;

Numbers numbers(const DumpIndex& index, int32_t StepRank::*member) {
  Numbers out;
  for (const StepRank& group : index.groups()) out.insert(group.*member);
  return out;
}

std::string list_text(const std::vector<int32_t>& list) {
  std::string text;
  for (size_t i = 0; i < list.size() && i < kMaxListed; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(list[i]);
  if (list.size() > kMaxListed) text += ", … (" + std::to_string(list.size()) + " in all)";
  return text;
}

// The numbers of one kind and how those of the target translate to golden's.
class Translation {
 public:
  Translation(std::string word, Numbers target, Numbers golden, std::vector<std::string>& notices)
      : single_(target.size() == 1 && golden.size() == 1) {
    if (single_) {
      target_ = *target.begin();
      golden_ = *golden.begin();
      if (target_ != golden_)
        notices.push_back(word + " " + std::to_string(target_) + " of target is compared with " + word + " " +
                          std::to_string(golden_) + " of golden: each is the only one");
      return;
    }
    tell(word, target, golden, "target", notices);
    tell(word, golden, target, "golden", notices);
  }

  int32_t to_target(int32_t golden) const { return single_ && golden == golden_ ? target_ : golden; }

 private:
  static void tell(const std::string& word, const Numbers& of, const Numbers& other, const std::string& side,
                   std::vector<std::string>& notices) {
    std::vector<int32_t> alone;
    std::set_difference(of.begin(), of.end(), other.begin(), other.end(), std::back_inserter(alone));
    if (!alone.empty())
      notices.push_back((alone.size() == 1 ? word : word + "s") + " only in " + side + ": " +
                        list_text(alone));
  }

  bool single_;
  int32_t target_ = 0, golden_ = 0;
};

void join_single_golden(const DumpIndex& target, const DumpIndex& golden, GroupPairing& out) {
  if (golden.groups().size() != 1 || golden.groups()[0].step >= 0) return;
  const bool paired = std::any_of(out.pairs.begin(), out.pairs.end(), [](const GroupPair& pair) {
    return pair.target != nullptr && pair.golden != nullptr;
  });
  if (paired) return;
  std::erase_if(out.pairs, [](const GroupPair& pair) { return pair.target == nullptr; });
  const StepRank& first = target.groups()[0];
  for (GroupPair& pair : out.pairs)
    if (pair.target == &first) pair.golden = &golden.groups()[0];
  out.notices = {"golden says nothing of steps and ranks: it is compared with step " +
                 std::to_string(first.step) + " rank " + std::to_string(first.rank) +
                 ", the first (--step and --rank choose)"};
  out.joined = true;
}

}  // namespace

GroupPairing pair_groups(const DumpIndex& target, const DumpIndex& golden) {
  GroupPairing out;
  if (target.groups().empty() || golden.groups().empty()) {
    for (const StepRank& group : target.groups()) out.pairs.push_back({&group, nullptr});
    for (const StepRank& group : golden.groups()) out.pairs.push_back({nullptr, &group});
    return out;
  }
  const Numbers target_steps = numbers(target, &StepRank::step),
                golden_steps = numbers(golden, &StepRank::step);
  const Numbers target_ranks = numbers(target, &StepRank::rank),
                golden_ranks = numbers(golden, &StepRank::rank);
  const Translation step("step", target_steps, golden_steps, out.notices);
  const Translation rank("rank", target_ranks, golden_ranks, out.notices);
  std::map<std::pair<int32_t, int32_t>, GroupPair> pairs;  // by step and rank as the target counts them
  for (const StepRank& group : target.groups()) pairs[{group.step, group.rank}].target = &group;
  for (const StepRank& group : golden.groups())
    pairs[{step.to_target(group.step), rank.to_target(group.rank)}].golden = &group;
  for (const auto& [key, pair] : pairs) {
    out.pairs.push_back(pair);
    if (pair.target != nullptr && pair.golden != nullptr) continue;
    // Steps and ranks that a side lacks as a whole were said above.
    const bool in_target = pair.target != nullptr;
    const StepRank& group = in_target ? *pair.target : *pair.golden;
    const Numbers& steps = in_target ? golden_steps : target_steps;
    const Numbers& ranks = in_target ? golden_ranks : target_ranks;
    if (steps.contains(group.step) && ranks.contains(group.rank))
      out.notices.push_back("step " + std::to_string(group.step) + " rank " + std::to_string(group.rank) +
                            " is only in " + (in_target ? "target" : "golden"));
  }
  join_single_golden(target, golden, out);
  return out;
}

}  // namespace ulpscope
