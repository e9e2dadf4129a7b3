// Pairs modules that are cut differently on the two sides: q_proj, k_proj and v_proj against qkv_proj,
// gate_proj and up_proj against gate_up_proj; and a training dump with an inference dump, whose module names
// differ. Used by match(). Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "match/op_pairing.hpp"

namespace ulpscope {

// Several ops of one side that together are one op of the other, in joining order.
struct OpMerge {
  bool target_side = true;  // the side of the several
  std::vector<OpId> many;
  OpId one = kNoIndex;
};

bool is_merge_backend(std::string_view backend);  // fsdp, megatron

// The ops of a training dump that are compared: from the embedding's forward call to the backward entry of
// the model. left_out is set to how many are not.
std::vector<OpId> training_ops(const DumpIndex& target, std::span<const OpId> ops, std::string_view backend,
                               int64_t& left_out);

// Pairs the free ops of a training dump (target) with those of an inference dump by layer, module and order
// of appearance. Merges are added to merges; their pairs are mapped, as all others whose names differ.
void pair_training(const DumpIndex& target, std::span<const OpId> target_ops, const DumpIndex& golden,
                   std::span<const OpId> golden_ops, std::string_view backend, OpPartners& partners,
                   std::vector<OpMerge>& merges);

// Pairs free projection modules of one side with the free merged module at the same place of the other.
void pair_projections(const DumpIndex& target, std::span<const OpId> target_ops, const DumpIndex& golden,
                      std::span<const OpId> golden_ops, OpPartners& partners, std::vector<OpMerge>& merges);

// The rows of a merge: for each item of the one, those of the many with its role and path. The merges that
// arise are added to merges, and the rows' merge is their place there. Items of the many without a place in
// the one are rows of their own.
std::vector<ItemPair> pair_merged_items(const DumpIndex& target, const DumpIndex& golden,
                                        const OpMerge& merge, std::vector<Merge>& merges);

}  // namespace ulpscope
