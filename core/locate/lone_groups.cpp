#include "locate/lone_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/text.hpp"
#include "match/group_pairing.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMaxListed = 20;

int64_t row_count(const DumpIndex& index, const StepRank& group) {
  int64_t rows = 0;
  for (const OpId op : group.ops) rows += static_cast<int64_t>(index.items(op).size());
  return rows;
}

// "0-5, 7, 9" of ascending numbers; two in a row are no range.
std::string list_text(const std::vector<int32_t>& numbers) {
  std::string list;
  size_t listed = 0;
  for (size_t i = 0; i < numbers.size() && listed < kMaxListed; ++listed) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    const bool is_range = end - i > 2;
    if (!list.empty()) list += ", ";
    list += is_range ? fmt::format("{}-{}", numbers[i], numbers[end - 1]) : std::to_string(numbers[i]);
    i = is_range ? end : i + 1;
    if (listed + 1 == kMaxListed && i < numbers.size())
      list += fmt::format(", … ({} in all)", numbers.size());
  }
  return list;
}

// "steps 1, 2 are only in golden: their 272 rows were not compared"
std::string note(std::string_view word, const std::vector<int32_t>& numbers, int64_t rows,
                 std::string_view side) {
  const std::string list = list_text(numbers);
  const bool one = numbers.size() == 1;
  return fmt::format("{}{} {} {} only in {}: {} {} {} not compared", word, one ? "" : "s", list,
                     one ? "is" : "are", side, one ? "its" : "their",
                     rows == 1 ? "row" : count_text(rows) + " rows", rows == 1 ? "was" : "were");
}

// Rows of the groups that share a step or a rank, and whether all of these groups are lone.
struct Share {
  bool lone = true;
  int64_t rows = 0;
};

void add_shares(const std::map<int32_t, Share>& shares, std::string_view word, std::string_view side,
                std::vector<std::string>& notes) {
  std::vector<int32_t> numbers;
  int64_t rows = 0;
  for (const auto& [number, share] : shares) {
    if (!share.lone || number < 0) continue;
    numbers.push_back(number);
    rows += share.rows;
  }
  if (!numbers.empty()) notes.push_back(note(word, numbers, rows, side));
}

bool is_listed(const std::vector<const StepRank*>& lone, const StepRank& group) {
  return std::find(lone.begin(), lone.end(), &group) != lone.end();
}

// What a step or a rank says for all of its groups.
bool is_told(const std::map<int32_t, Share>& shares, int32_t number) {
  const auto found = shares.find(number);
  return number >= 0 && found != shares.end() && found->second.lone;
}

void add_notes(const DumpIndex& index, const std::vector<const StepRank*>& lone, std::string_view side,
               std::vector<std::string>& notes) {
  std::map<int32_t, Share> steps, ranks;
  for (const StepRank& group : index.groups()) {
    Share& step = steps[group.step];
    step.lone &= is_listed(lone, group);
    step.rows += row_count(index, group);
  }
  // What its step tells counts for no rank.
  for (const StepRank& group : index.groups()) {
    if (is_told(steps, group.step)) continue;
    Share& rank = ranks[group.rank];
    rank.lone &= is_listed(lone, group);
    rank.rows += row_count(index, group);
  }
  add_shares(steps, "step", side, notes);
  add_shares(ranks, "rank", side, notes);
  for (const StepRank* group : lone)
    if (group->step >= 0 && group->rank >= 0 && !is_told(steps, group->step) && !is_told(ranks, group->rank))
      notes.push_back(
          note(fmt::format("step {} rank", group->step), {group->rank}, row_count(index, *group), side));
}

}  // namespace

LoneGroups lone_groups(const ResultTable& table) {
  std::vector<bool> target(table.target->ops().size(), false), golden(table.golden->ops().size(), false);
  for (const OpPair& pair : table.pairs.ops) {
    if (!pair.by_design && (pair.target == kNoIndex || pair.golden == kNoIndex)) continue;
    if (pair.target != kNoIndex) target[pair.target] = true;
    if (pair.golden != kNoIndex) golden[pair.golden] = true;
  }
  const auto is_alone = [](const StepRank& group, const std::vector<bool>& paired) {
    return std::none_of(group.ops.begin(), group.ops.end(), [&](OpId op) { return paired[op]; });
  };
  LoneGroups lone;
  for (const GroupPair& pair : pair_groups(*table.target, *table.golden).pairs) {
    if (pair.golden == nullptr && is_alone(*pair.target, target)) lone.target.push_back(pair.target);
    if (pair.target == nullptr && is_alone(*pair.golden, golden)) lone.golden.push_back(pair.golden);
  }
  return lone;
}

std::vector<std::string> lone_group_notes(const ResultTable& table, const LoneGroups& lone) {
  std::vector<std::string> notes;
  if (table.target->groups().empty() || table.golden->groups().empty()) return notes;
  add_notes(*table.target, lone.target, "target", notes);
  add_notes(*table.golden, lone.golden, "golden", notes);
  return notes;
}

}  // namespace ulpscope
