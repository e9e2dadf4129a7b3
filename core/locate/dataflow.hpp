// Which op of a run produced the value that another op read. Dumps do not say it; equal content shows it:
// on one rank, an input whose content equals an output recorded earlier was produced there, and the latest
// such output of its step wins; what no op of the step produced may come from the step before (caches). Used
// by the localisation; reads an index and content keys, opens no data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/content_key.hpp"
#include "index/dump_index.hpp"

namespace ulpscope {

// Content hashes that the measuring took, by item; zero keys where it took none.
using ContentKeys = std::vector<ContentKey>;

// The hash of an item where there is one, else a key of what its record says (digest, or all statistics);
// zero where neither is known. Elements count, shapes do not: a view has its original's content.
ContentKey content_key(const DumpIndex& index, const ContentKeys& hashes, ItemId item);

class DataFlow {
 public:
  DataFlow() = default;  // of nothing
  // hashes has one key an item of index, or is empty. Digests and statistics of the records serve where there
  // is no hash. Tensors whose content says nothing (fewer than 4 elements, or constant) never link by
  // content; a record's link name does, whatever its content.
  DataFlow(const DumpIndex& index, const ContentKeys& hashes);

  // The item that an input's value came from: an output of an earlier op, or kNoIndex for an external input.
  ItemId producer(ItemId input) const { return producers_[input]; }
  // Inputs that read an output.
  std::span<const ItemId> consumers(ItemId output) const;
  // Whether the item's content can link at all.
  bool linkable(ItemId item) const { return linkable_[item]; }

 private:
  struct Outputs;  // of one step and rank, by what they hold

  void link_group(const DumpIndex& index, const ContentKeys& hashes, const StepRank& group, Outputs& before);

  std::vector<ItemId> producers_;
  std::vector<bool> linkable_;
  std::vector<ItemId> consumer_list_;     // grouped by output
  std::vector<uint32_t> first_consumer_;  // by item, one more than there are items
};

}  // namespace ulpscope
