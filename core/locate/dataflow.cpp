#include "locate/dataflow.hpp"

#include <map>
#include <unordered_map>
#include <utility>

namespace ulpscope {
namespace {

// Fewer elements than this say too little: many tensors are equal by chance.
constexpr int64_t kLeastElements = 4;

// The latest item of each content. Open addressing: a node for each entry costs more than all else here.
class LatestItems {
 public:
  ItemId find(const ContentKey& key) const { return slots_[slot_of(key)].item; }

  void put(const ContentKey& key, ItemId item) {
    Slot* slot = &slots_[slot_of(key)];
    if (slot->item == kNoIndex && ++count_ * 2 > slots_.size()) {
      grow();
      slot = &slots_[slot_of(key)];
    }
    *slot = {key, item};
  }

 private:
  struct Slot {
    ContentKey key;
    ItemId item = kNoIndex;  // kNoIndex: free
  };

  size_t slot_of(const ContentKey& key) const {
    const size_t mask = slots_.size() - 1;
    size_t at = (key.low ^ (key.high * 0x9e3779b97f4a7c15ULL)) & mask;
    while (slots_[at].item != kNoIndex && !(slots_[at].key == key)) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.item != kNoIndex) slots_[slot_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of two, at most half of them taken
  size_t count_ = 0;
};

bool is_constant(const ulpscope_stats& stats) {
  constexpr uint32_t kBoth = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN;
  return (stats.present & kBoth) == kBoth && stats.max == stats.min;
}

// Whether an op stands inside another one. What an op reads was there before anything inside it ran.
bool is_inside(const DumpIndex& index, OpId op, OpId outer) {
  constexpr int kMaxDepth = 1000;
  OpId parent = index.ops()[op].parent;
  for (int depth = 0; depth < kMaxDepth && parent != kNoIndex; ++depth) {
    if (parent == outer) return true;
    parent = index.ops()[parent].parent;
  }
  return false;
}

bool is_read(Role role) { return role == Role::input || role == Role::kwarg; }

}  // namespace

struct DataFlow::Outputs {
  LatestItems by_content, by_record;
  std::unordered_map<TextId, ItemId> by_name;
};

ContentKey content_key(const DumpIndex& index, const ContentKeys& hashes, ItemId item) {
  if (!hashes.empty() && hashes[item].known()) return hashes[item];
  const TensorId tensor = index.items()[item].tensor;
  return tensor == kNoIndex ? ContentKey() : recorded_key(index, tensor);
}

DataFlow::DataFlow(const DumpIndex& index, const ContentKeys& hashes)
    : producers_(index.items().size(), kNoIndex), linkable_(index.items().size(), false) {
  std::map<int32_t, Outputs> before;  // of the last step, by rank
  for (const StepRank& group : index.groups()) link_group(index, hashes, group, before[group.rank]);
  first_consumer_.assign(index.items().size() + 1, 0);
  for (const ItemId producer : producers_)
    if (producer != kNoIndex) ++first_consumer_[producer + 1];
  for (size_t i = 1; i < first_consumer_.size(); ++i) first_consumer_[i] += first_consumer_[i - 1];
  consumer_list_.resize(first_consumer_.back());
  std::vector<uint32_t> next(first_consumer_.begin(), first_consumer_.end() - 1);
  for (size_t item = 0; item < producers_.size(); ++item)
    if (producers_[item] != kNoIndex) consumer_list_[next[producers_[item]]++] = static_cast<ItemId>(item);
}

void DataFlow::link_group(const DumpIndex& index, const ContentKeys& hashes, const StepRank& group,
                          Outputs& before) {
  Outputs now;
  const auto hash_of = [&](ItemId item) { return hashes.empty() ? ContentKey() : hashes[item]; };
  const auto find = [&](const Outputs& outputs, TextId link, ContentKey content, ContentKey record) {
    ItemId found = kNoIndex;
    if (const auto named = outputs.by_name.find(link); link != 0 && named != outputs.by_name.end())
      found = named->second;
    if (found == kNoIndex && content.known()) found = outputs.by_content.find(content);
    if (found != kNoIndex || !record.known()) return found;
    // An output that was not hashed (it had no partner) is found by what its record says.
    found = outputs.by_record.find(record);
    return found != kNoIndex && content.known() && hash_of(found).known() ? kNoIndex : found;
  };
  for (const OpId op : group.ops) {
    const OpRow& row = index.ops()[op];
    for (ItemId item = row.first_item; item < row.first_item + row.item_count; ++item) {
      const ItemRow& entry = index.items()[item];
      if (entry.tensor == kNoIndex || entry.role == Role::parameter || entry.role == Role::gradient) continue;
      const TensorRow& tensor = index.tensors()[entry.tensor];
      const bool says_something =
          index.element_count(entry.tensor) >= kLeastElements && !is_constant(tensor.stats);
      const ContentKey content = says_something ? hash_of(item) : ContentKey();
      const ContentKey record = says_something ? recorded_key(index, entry.tensor) : ContentKey();
      linkable_[item] = content.known() || record.known() || tensor.link != 0;
      if (is_read(entry.role)) {
        const ItemId found = find(now, tensor.link, content, record);
        if (found != kNoIndex && !is_inside(index, index.items()[found].op, op)) producers_[item] = found;
        if (producers_[item] == kNoIndex) producers_[item] = find(before, tensor.link, content, record);
      } else if (entry.role == Role::output) {
        if (tensor.link != 0) now.by_name[tensor.link] = item;
        if (content.known()) now.by_content.put(content, item);
        if (record.known()) now.by_record.put(record, item);
      }
    }
  }
  before = std::move(now);
}

std::span<const ItemId> DataFlow::consumers(ItemId output) const {
  return std::span(consumer_list_)
      .subspan(first_consumer_[output], first_consumer_[output + 1] - first_consumer_[output]);
}

}  // namespace ulpscope
