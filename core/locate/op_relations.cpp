#include "locate/op_relations.hpp"

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace ulpscope {
namespace {

const OpRow& target_row(const ResultTable& table, const OpError& op) {
  return table.target->ops()[table.pairs.ops[op.op_pair].target];
}

// What of its name a call shares with its backward call: all before the phase. A module's call number stands
// behind the phase, an API's before it.
std::string_view stem_of(std::string_view name, std::string_view phase) {
  return name.substr(0, name.rfind(phase));
}

// The text of the argument that names the communication group; empty where none is recorded.
std::string_view group_of(const ResultTable& table, const OpError& op) {
  const OpId id = table.pairs.ops[op.op_pair].target;
  for (const ItemRow& item : table.target->items(id))
    if (item.tensor == kNoIndex && table.target->text(item.path).find("group") != std::string_view::npos)
      return table.target->text(item.value);
  return "";
}

}  // namespace

OpRelations::OpRelations(const ResultTable& table, const std::vector<OpError>& ops)
    : forward_(ops.size(), -1), peers_(ops.size()), type_row_(ops.size(), 0) {
  link_backward(table, ops);
  link_collectives(table, ops);
  group_types(table, ops);
}

void OpRelations::link_backward(const ResultTable& table, const std::vector<OpError>& ops) {
  using Key = std::tuple<int32_t, int32_t, uint32_t, std::string_view>;  // step, rank, call, stem
  std::map<Key, size_t> forward_calls;
  bool any_backward = false;
  for (const OpError& op : ops) any_backward |= target_row(table, op).phase == Phase::backward;
  if (!any_backward) return;
  for (size_t i = 0; i < ops.size(); ++i) {
    const OpRow& row = target_row(table, ops[i]);
    if (row.phase == Phase::forward)
      forward_calls[{row.step, row.rank, row.call, stem_of(table.target->text(row.name), ".forward")}] = i;
  }
  for (size_t i = 0; i < ops.size(); ++i) {
    const OpRow& row = target_row(table, ops[i]);
    if (row.phase != Phase::backward) continue;
    const auto found = forward_calls.find(
        {row.step, row.rank, row.call, stem_of(table.target->text(row.name), ".backward")});
    if (found != forward_calls.end()) forward_[i] = static_cast<int64_t>(found->second);
  }
}

void OpRelations::link_collectives(const ResultTable& table, const std::vector<OpError>& ops) {
  std::map<std::tuple<int32_t, std::string_view, std::string_view>, std::vector<size_t>> meetings;
  for (size_t i = 0; i < ops.size(); ++i) {
    const OpRow& row = target_row(table, ops[i]);
    if (row.kind != OpKind::communication) continue;
    meetings[{row.step, table.target->text(row.name), group_of(table, ops[i])}].push_back(i);
  }
  for (const auto& [key, calls] : meetings)
    for (const size_t call : calls)
      for (const size_t other : calls)
        if (other != call) peers_[call].push_back(other);
}

void OpRelations::group_types(const ResultTable& table, const std::vector<OpError>& ops) {
  std::map<std::pair<int32_t, TextId>, size_t> rows;  // of rank and type
  for (size_t i = 0; i < ops.size(); ++i) {
    const OpRow& row = target_row(table, ops[i]);
    const auto [found, added] = rows.try_emplace({row.rank, row.type}, by_type_.size());
    if (added) by_type_.emplace_back();
    type_row_[i] = found->second;
    by_type_[found->second].push_back(i);
  }
}

}  // namespace ulpscope
