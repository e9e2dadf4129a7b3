// Pairs the calls of one step and rank of both sides: by key and order, then what is left by name and by
// order of appearance. Used by match(); knows nothing of steps, ranks, items or mapping files. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/matcher.hpp"
#include "match/op_keys.hpp"

namespace ulpscope {

// Which op is paired with which, over the whole of both dumps.
struct OpPartners {
  std::vector<OpId> golden_of, target_of;  // by op of the target and of the golden; kNoIndex: none
  std::vector<bool> mapped;                // by op of the target: a mapping or a merge made the pair

  OpPartners(size_t target_count, size_t golden_count)
      : golden_of(target_count, kNoIndex), target_of(golden_count, kNoIndex), mapped(target_count, false) {}
  bool free_target(OpId op) const { return golden_of[op] == kNoIndex; }
  bool free_golden(OpId op) const { return target_of[op] == kNoIndex; }
  void pair(OpId target, OpId golden) {
    golden_of[target] = golden;
    target_of[golden] = target;
  }
};

struct PairingSide {
  const DumpIndex& index;
  std::span<const OpKey> keys;  // by OpId
};

// Pairs the free ops of the two lists, which are in execution order and hold only ops that may pair: one
// step, one rank, one token. fuzzy: call numbers do not count.
void pair_ops(const PairingSide& target, std::span<const OpId> target_ops, const PairingSide& golden,
              std::span<const OpId> golden_ops, bool fuzzy, OpPartners& partners);

}  // namespace ulpscope
