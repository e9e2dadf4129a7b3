// Pairs the items of two ops: by role and path, then by place within the role. Used by match(). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "match/mapping.hpp"
#include "match/matcher.hpp"

namespace ulpscope {

struct ItemPairing {
  // In order of the target's items; those of the golden side alone follow the one before them. op_pair and
  // merge are left as they are by default.
  std::vector<ItemPair> pairs;
  int64_t by_place = 0;  // how many of them by place, although the paths differ
};

// What an item of the target is called in golden, where a mapping says so: such pairs are mapped.
using ItemRename = std::function<std::optional<ItemName>(Role role, std::string_view path)>;

// Place of a role in the row order of an op: inputs, parameters, outputs, gradients.
size_t role_order(Role role);

// Whether an item takes no part.
using ItemSkip = std::function<bool(bool of_target, ItemId item)>;

// how: of the pairs of equal paths. Either op may be kNoIndex.
ItemPairing pair_items(const DumpIndex& target, OpId target_op, const DumpIndex& golden, OpId golden_op,
                       MatchKind how, const ItemRename& rename = {}, const ItemSkip& skip = {});

}  // namespace ulpscope
