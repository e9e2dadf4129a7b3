// Applies a mapping to two dumps: gives ops of the target other names, pairs what rules name, and tells which
// rules found nothing. Used by match(). One thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "match/item_pairing.hpp"
#include "match/mapping.hpp"
#include "match/op_pairing.hpp"

namespace ulpscope {

class MappingRules {
 public:
  // All arguments must outlive the object.
  MappingRules(const Mapping& mapping, const DumpIndex& target, const DumpIndex& golden);

  // The name to look for in golden in place of an op name of the target (cells, APIs, layers).
  std::string rename(std::string_view name);
  bool ignores_classes() const { return !mapping_.layers.empty(); }

  // Pairs the ops of one step and rank that row rules and op rules name, and notes the pairs of items.
  void pair_ops(std::span<const OpId> target_ops, std::span<const OpId> golden_ops, OpPartners& partners);

  // The golden item that a row rule names for an item of the target; kNoIndex: none. Valid after pair_ops.
  ItemId golden_item_of(ItemId target) const;
  bool is_golden_item_taken(ItemId golden) const;
  bool has_row_pairs() const { return !golden_items_.empty(); }
  // The other paths of an op's items (API and item rules); empty when there are none.
  ItemRename item_rename(OpId target_op);

  // One line for each rule that found nothing.
  std::vector<std::string> unused_rules() const;

 private:
  using NameTable = std::unordered_map<std::string_view, OpId>;
  struct Row {
    OpId op = kNoIndex;
    ItemId item = kNoIndex;
  };

  std::string rename_cell(std::string_view name);
  std::string rename_api(std::string_view name);
  std::string rename_layers(std::string_view name);
  void learn_classes();
  Row find_row(const DumpIndex& index, const NameTable& names, std::string_view row) const;
  void pair_rows(std::span<const OpId> target_ops, std::span<const OpId> golden_ops, OpPartners& partners);
  void pair_op_of_rows(OpId target_op, std::span<const std::pair<ItemId, ItemId>> rows,
                       const NameTable& golden_names, OpPartners& partners) const;
  bool pair_lists(const std::vector<OpId>& target_ops, const std::vector<OpId>& golden_ops,
                  OpPartners& partners) const;
  void pair_by_rule(size_t rule, std::span<const OpId> target_ops, std::span<const OpId> golden_by_name,
                    OpPartners& partners);

  const Mapping& mapping_;
  const DumpIndex& target_;
  const DumpIndex& golden_;
  std::unordered_map<std::string_view, size_t> cell_of_, api_of_, layer_of_;  // exact names to rules
  std::unordered_map<std::string, std::string> class_of_;           // module path of the target to its class
  std::unordered_map<ItemId, ItemId> golden_items_, target_items_;  // pairs by row rules
  std::vector<bool> row_used_, cell_used_, api_used_, layer_used_, op_used_, item_used_;
};

}  // namespace ulpscope
