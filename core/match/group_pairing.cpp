#include "match/group_pairing.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ulpscope {
namespace {

using Numbers = std::set<int32_t>;

Numbers numbers(const DumpIndex& index, int32_t StepRank::*member) {
  Numbers out;
  for (const StepRank& group : index.groups()) out.insert(group.*member);
  return out;
}

// The numbers of one kind and how those of the target translate to golden's.
class Translation {
 public:
  Translation(const std::string& word, const Numbers& target, const Numbers& golden,
              std::vector<std::string>& notices)
      : single_(target.size() == 1 && golden.size() == 1) {
    if (single_) {
      target_ = *target.begin();
      golden_ = *golden.begin();
      if (target_ != golden_ && target_ >= 0 && golden_ >= 0)
        notices.push_back(word + " " + std::to_string(target_) + " of target is compared with " + word + " " +
                          std::to_string(golden_) + " of golden: each is the only one");
    }
  }

  int32_t to_target(int32_t golden) const { return single_ && golden == golden_ ? target_ : golden; }

 private:
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
  for (const auto& [key, pair] : pairs) out.pairs.push_back(pair);
  join_single_golden(target, golden, out);
  return out;
}

}  // namespace ulpscope
