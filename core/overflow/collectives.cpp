#include "overflow/collectives.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.hpp"

namespace ulpscope {
namespace {

enum class Direction { none, send, receive };

Direction direction_of(std::string_view type) {
  if (type == "send" || type == "isend") return Direction::send;
  if (type == "recv" || type == "irecv") return Direction::receive;
  return Direction::none;
}

std::string_view stripped(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '"')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '"')) text.remove_suffix(1);
  return text;
}

// The integer argument that one of these paths names.
std::optional<int32_t> integer_argument(const DumpIndex& index, OpId op,
                                        std::initializer_list<std::string_view> paths) {
  for (const ItemRow& item : index.items(op)) {
    if (item.tensor != kNoIndex || item.role == Role::output) continue;
    if (std::find(paths.begin(), paths.end(), index.text(item.path)) == paths.end()) continue;
    const auto number = parse_int(stripped(index.text(item.value)));
    if (number && *number >= 0 && *number <= INT32_MAX) return static_cast<int32_t>(*number);
  }
  return std::nullopt;
}

std::optional<std::vector<int32_t>> group_of(const DumpIndex& index, OpId op) {
  for (const ItemRow& item : index.items(op)) {
    if (item.tensor != kNoIndex || index.text(item.type) != "torch.ProcessGroup") continue;
    std::vector<int32_t> ranks = group_ranks(index.text(item.value));
    if (!ranks.empty()) return ranks;
  }
  return std::nullopt;
}

}  // namespace

std::vector<int32_t> group_ranks(std::string_view text) {
  text = stripped(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return {};
  std::vector<int32_t> ranks;
  for (const std::string_view part : split(text.substr(1, text.size() - 2), ',')) {
    const auto rank = parse_int(stripped(part));
    if (!rank || *rank < 0 || *rank > INT32_MAX) return {};
    ranks.push_back(static_cast<int32_t>(*rank));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

bool is_communication(const DumpIndex& index, OpId op) {
  return index.ops()[op].kind == OpKind::communication;
}

bool overwrites_inputs(const DumpIndex& index, OpId op) {
  if (!is_communication(index, op) || index.text(index.ops()[op].type) != "broadcast") return false;
  const auto source = integer_argument(index, op, {"src", "group_src", "1"});
  return source && *source != index.ops()[op].rank;
}

Collectives::Collectives(const DumpIndex& index, const std::vector<const StepRank*>& groups) : index_(index) {
  for (const StepRank* group : groups) ranks_.insert(group->rank);
  for (const StepRank* group : groups) {
    std::map<std::string, int64_t> counts;  // calls of a kind on this rank so far
    for (const OpId op : group->ops) {
      if (!is_communication(index, op)) continue;
      Member member = member_of(op);
      member.key += "#" + std::to_string(counts[member.key]++);
      calls_[member.key].push_back(op);
      members_.emplace(op, std::move(member));
    }
  }
}

Collectives::Member Collectives::member_of(OpId id) const {
  const OpRow& op = index_.ops()[id];
  const std::string_view type = index_.text(op.type);
  Member member;
  const Direction direction = direction_of(type);
  if (direction != Direction::none) {
    const bool sends = direction == Direction::send;
    const auto other = sends ? integer_argument(index_, id, {"dst", "group_dst", "1"})
                             : integer_argument(index_, id, {"src", "group_src", "1"});
    if (other) {
      const int32_t from = sends ? op.rank : *other, to = sends ? *other : op.rank;
      member.key = "message " + std::to_string(from) + " " + std::to_string(to);
      member.ranks = {std::min(from, to), std::max(from, to)};
      return member;
    }
    member.key = "message";
    member.guessed = true;
    return member;
  }
  member.key = type;
  if (const auto group = group_of(index_, id)) {
    for (const int32_t rank : *group) member.key += " " + std::to_string(rank);
    member.ranks = *group;
  } else {
    // The default group is that of all ranks; those that the dump lacks are not known.
    member.ranks.assign(ranks_.begin(), ranks_.end());
    member.guessed = type.find("isend") != std::string_view::npos;
  }
  return member;
}

Partners Collectives::partners(OpId op) const {
  Partners partners;
  const auto found = members_.find(op);
  if (found == members_.end()) return partners;
  const Member& member = found->second;
  partners.guessed = member.guessed;
  for (const OpId call : calls_.at(member.key))
    if (call != op && index_.ops()[call].rank != index_.ops()[op].rank) partners.ops.push_back(call);
  for (const int32_t rank : member.ranks)
    if (ranks_.find(rank) == ranks_.end()) partners.missing_ranks.push_back(rank);
  return partners;
}

}  // namespace ulpscope
