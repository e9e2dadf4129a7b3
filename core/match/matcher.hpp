// Finds the golden op and the golden item for each one of the target. Pure: reads two indexes, changes
// neither, opens no file. Unmatched ops and items are part of the result, so that a report never loses a row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "index/dump_index.hpp"

namespace ulpscope {

enum class MatchKind : uint8_t { exact, aligned, fuzzy, mapped, origin, only_target, only_golden };
std::string_view to_text(MatchKind kind);

// Two calls of one operation, or one call without a partner (the other side is kNoIndex).
struct OpPair {
  OpId target = kNoIndex, golden = kNoIndex;
  MatchKind how = MatchKind::exact;
  bool by_design = false;  // a call of one side whose lack of a partner is no difference of structure
};

// Several items of one side that together are one item of the other (q_proj, k_proj, v_proj against
// qkv_proj).
struct Merge {
  bool target_side = true;    // which side is joined
  std::vector<ItemId> items;  // in joining order
  int32_t axis =
      -1;  // concatenated along this dimension, size-1 dimensions removed; -1: the first item stands for all
};

// Why an item has no partner: it was not found, it is inside a fused operator, or no golden tensor exists for
// it.
enum class OneSided : uint8_t { unmatched, inner, no_reference };

// One row of a comparison. op_pair: the row of PairList::ops that it belongs to.
struct ItemPair {
  ItemId target = kNoIndex, golden = kNoIndex;
  MatchKind how = MatchKind::exact;
  uint32_t op_pair = 0;
  int32_t merge = -1;                  // row of PairList::merges, -1: none
  OneSided why = OneSided::unmatched;  // of an item of one side
};

struct PairList {
  std::vector<OpPair> ops;      // target order; golden-only ops after the golden op that they follow
  std::vector<ItemPair> items;  // in the order of ops; within an op inputs, parameters, outputs, gradients
  std::vector<Merge> merges;
  // What the user should know about the pairing itself: steps or ranks of one side only, filters that differ,
  // ….
  std::vector<std::string> notices;
};

// Names that a user gives for ops of the target; see the loaders in mapping.hpp.
struct Mapping;

struct MatchOptions {
  bool fuzzy = false;                // --fuzzy_match: call numbers do not count
  const Mapping* mapping = nullptr;  // --data_mapping, --cell_mapping, …
  std::string merge_backend;         // "fsdp" or "megatron" for --consistent_check, else empty
  ThreadPool* pool = nullptr;        // looks at both sides at once; null: at one after the other
};

// usage: a mapping that cannot be applied. Any thread.
Result<PairList> match(const DumpIndex& target, const DumpIndex& golden, const MatchOptions& options);

}  // namespace ulpscope
