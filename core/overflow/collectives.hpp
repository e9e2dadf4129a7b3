// Which communication calls of different ranks are one operation: the n-th call of a collective in one group,
// or a send and its receive. Used by the search for the first overflow. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "index/dump_index.hpp"

namespace ulpscope {

// The calls that act together with one call.
struct Partners {
  std::vector<OpId> ops;               // calls of other ranks
  std::vector<int32_t> missing_ranks;  // ranks of the group that the dump does not hold
  bool guessed = false;  // the dump does not say who takes part: ops are all calls of the same kind
};

class Collectives {
 public:
  // Links the calls of one step; groups are the ranks of that step.
  Collectives(const DumpIndex& index, const std::vector<const StepRank*>& groups);
  // The partners of a communication call of this step; empty for any other op.
  Partners partners(OpId op) const;

 private:
  struct Member {
    std::string key;  // what the partners share
    std::vector<int32_t> ranks;
    bool guessed = false;
  };
  Member member_of(OpId id) const;

  const DumpIndex& index_;
  std::set<int32_t> ranks_;
  std::unordered_map<OpId, Member> members_;
  std::unordered_map<std::string, std::vector<OpId>> calls_;  // key to the calls that share it
};

// Whether an op exchanges data with other ranks.
bool is_communication(const DumpIndex& index, OpId op);

// Whether the call overwrites what the rank brings along: a broadcast on every rank but its source.
bool overwrites_inputs(const DumpIndex& index, OpId op);

// The ranks of a process group from its JSON text, "[0,1]"; empty when it is something else.
std::vector<int32_t> group_ranks(std::string_view text);

}  // namespace ulpscope
