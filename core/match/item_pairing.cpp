#include "match/item_pairing.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "match/op_keys.hpp"

namespace ulpscope {
namespace {

constexpr uint32_t kFree = kNoIndex;

// Positional and keyword arguments are both inputs.
Role joined(Role role) { return role == Role::kwarg ? Role::input : role; }

bool starts_with_digit(std::string_view path) { return !path.empty() && path[0] >= '0' && path[0] <= '9'; }

enum class How : uint8_t { path, place, mapped };

class Pairing {
 public:
  Pairing(const DumpIndex& target, const DumpIndex& golden, std::vector<ItemId> a, std::vector<ItemId> b,
          const ItemRename& rename)
      : target_(target),
        golden_(golden),
        a_(std::move(a)),
        b_(std::move(b)),
        rename_(rename),
        partner_(a_.size(), kFree),
        used_(b_.size(), false),
        how_(a_.size(), How::path) {}

  void run() {
    by_path();
    for (const Role role : {Role::input, Role::parameter, Role::output, Role::gradient})
      for (const bool tensors : {true, false}) by_place(role, tensors);
  }

  ItemPairing result(MatchKind how) const {
    ItemPairing out;
    std::vector<std::vector<uint32_t>> after(a_.size() +
                                             1);  // golden items alone, by the target item they follow
    std::vector<uint32_t> target_of(b_.size(), kFree);
    for (uint32_t i = 0; i < a_.size(); ++i)
      if (partner_[i] != kFree) target_of[partner_[i]] = i;
    const std::array<size_t, 4> begins = role_begins();
    size_t place = 0;
    for (uint32_t j = 0; j < b_.size(); ++j) {
      // Roles stay together: an item alone stands no earlier than the end of the roles before its own.
      if (target_of[j] != kFree)
        place = target_of[j] + size_t{1};
      else
        after[std::max(place, begins[role_order(b_item(j).role)])].push_back(j);
    }
    for (size_t i = 0; i <= a_.size(); ++i) {
      for (const uint32_t j : after[i]) out.pairs.push_back({kNoIndex, b_[j], MatchKind::only_golden});
      if (i == a_.size()) break;
      if (partner_[i] == kFree) {
        out.pairs.push_back({a_[i], kNoIndex, MatchKind::only_target});
        continue;
      }
      MatchKind kind = how_[i] == How::mapped ? MatchKind::mapped : how;
      if (how_[i] == How::place && how == MatchKind::exact) kind = MatchKind::aligned;
      out.pairs.push_back({a_[i], b_[partner_[i]], kind});
      out.by_place += how_[i] == How::place ? 1 : 0;
    }
    return out;
  }

 private:
  const ItemRow& a_item(size_t i) const { return target_.items()[a_[i]]; }
  const ItemRow& b_item(size_t j) const { return golden_.items()[b_[j]]; }
  std::string_view a_path(size_t i) const { return target_.text(a_item(i).path); }
  std::string_view b_path(size_t j) const { return golden_.text(b_item(j).path); }
  void pair(size_t i, size_t j) {
    partner_[i] = static_cast<uint32_t>(j);
    used_[j] = true;
  }

  // Of several items of one path the first goes with the first, and so on.
  void by_path() {
    std::unordered_map<uint64_t, std::vector<uint32_t>> of_b;
    for (size_t j = b_.size(); j-- > 0;)
      of_b[mix(text_hash(b_path(j)), static_cast<uint64_t>(joined(b_item(j).role)))].push_back(
          static_cast<uint32_t>(j));
    for (size_t i = 0; i < a_.size(); ++i) {
      const Role role = joined(a_item(i).role);
      std::optional<ItemName> other;
      if (rename_) other = rename_(role, a_path(i));
      const uint64_t key = other ? mix(text_hash(other->path), static_cast<uint64_t>(other->role))
                                 : mix(text_hash(a_path(i)), static_cast<uint64_t>(role));
      const auto found = of_b.find(key);
      if (found == of_b.end() || found->second.empty()) continue;
      pair(i, found->second.back());
      if (other) how_[i] = How::mapped;
      found->second.pop_back();
    }
  }

  // What is left of a role, tensors and other arguments apart, goes by place if both sides have as many: a
  // positional argument of one side is a keyword of the other, or a result is nested otherwise. Two keywords
  // of different names are different arguments.
  void by_place(Role role, bool tensors) {
    std::vector<uint32_t> a, b;
    const auto belongs = [&](const ItemRow& item) {
      return joined(item.role) == role && (item.tensor != kNoIndex) == tensors;
    };
    for (uint32_t i = 0; i < a_.size(); ++i)
      if (partner_[i] == kFree && belongs(a_item(i))) a.push_back(i);
    for (uint32_t j = 0; j < b_.size(); ++j)
      if (!used_[j] && belongs(b_item(j))) b.push_back(j);
    if (a.empty() || a.size() != b.size()) return;
    for (size_t k = 0; k < a.size(); ++k) {
      const bool keywords =
          role == Role::input && !starts_with_digit(a_path(a[k])) && !starts_with_digit(b_path(b[k]));
      if (keywords && !tensors) continue;
      pair(a[k], b[k]);
      how_[a[k]] = How::place;
    }
  }

  // Where the items of each role begin on the target side, by role_order.
  std::array<size_t, 4> role_begins() const {
    std::array<size_t, 4> begins = {};
    for (size_t i = 0; i < a_.size(); ++i)
      for (size_t role = role_order(a_item(i).role) + 1; role < begins.size(); ++role) begins[role] = i + 1;
    return begins;
  }

  const DumpIndex& target_;
  const DumpIndex& golden_;
  const std::vector<ItemId> a_, b_;
  const ItemRename& rename_;
  std::vector<uint32_t> partner_;  // by place in a_
  std::vector<bool> used_;         // by place in b_
  std::vector<How> how_;           // by place in a_
};

std::vector<ItemId> items_of(const DumpIndex& index, OpId op, bool of_target, const ItemSkip& skip) {
  std::vector<ItemId> items;
  if (op == kNoIndex) return items;
  const OpRow& row = index.ops()[op];
  for (ItemId item = row.first_item; item < row.first_item + row.item_count; ++item)
    if (!skip || !skip(of_target, item)) items.push_back(item);
  return items;
}

// The usual case without further ado: both ops have the same items.
bool same_items(const DumpIndex& target, OpId target_op, const DumpIndex& golden, OpId golden_op) {
  if (target_op == kNoIndex || golden_op == kNoIndex) return false;
  const auto a = target.items(target_op), b = golden.items(golden_op);
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (joined(a[i].role) != joined(b[i].role) || target.text(a[i].path) != golden.text(b[i].path))
      return false;
  return true;
}

}  // namespace

size_t role_order(Role role) {
  switch (joined(role)) {
    case Role::parameter:
      return 1;
    case Role::output:
      return 2;
    case Role::gradient:
      return 3;
    default:
      return 0;
  }
}

ItemPairing pair_items(const DumpIndex& target, OpId target_op, const DumpIndex& golden, OpId golden_op,
                       MatchKind how, const ItemRename& rename, const ItemSkip& skip) {
  if (!rename && !skip && same_items(target, target_op, golden, golden_op)) {
    ItemPairing out;
    const OpRow &a = target.ops()[target_op], &b = golden.ops()[golden_op];
    for (uint32_t i = 0; i < a.item_count; ++i)
      out.pairs.push_back({a.first_item + i, b.first_item + i, how});
    return out;
  }
  Pairing pairing(target, golden, items_of(target, target_op, true, skip),
                  items_of(golden, golden_op, false, skip), rename);
  pairing.run();
  return pairing.result(how);
}

}  // namespace ulpscope
