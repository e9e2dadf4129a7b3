// Pairs the steps and ranks of two dumps by number. Used by match(). Pure.
#pragma once

#include <string>
#include <vector>

#include "index/dump_index.hpp"

namespace ulpscope {

// The ops of one step and rank on both sides; either may be null.
struct GroupPair {
  const StepRank* target = nullptr;
  const StepRank* golden = nullptr;
};

struct GroupPairing {
  std::vector<GroupPair> pairs;  // target order; those of golden alone after the one they follow
  std::vector<std::string> notices;
  bool joined =
      false;  // a golden without steps was given to the first step of the target, as the notice says
};

// Where both sides hold one step (one rank) these pair whatever their numbers. A golden of one run that says
// nothing of steps belongs to the first step and rank of the target.
GroupPairing pair_groups(const DumpIndex& target, const DumpIndex& golden);

}  // namespace ulpscope
