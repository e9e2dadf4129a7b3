// Which ops belong together beyond the data flow: a backward call and its forward call, the calls of one
// collective on all ranks of its group, and the calls of one type on one rank. Pure functions of the table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "locate/op_error.hpp"

namespace ulpscope {

class OpRelations {
 public:
  // ops are the rows of op_errors(table, ...), of which all positions below speak.
  OpRelations(const ResultTable& table, const std::vector<OpError>& ops);

  // The forward call that saved values for this backward call; -1: no backward call, or not recorded.
  int64_t forward_of(size_t op) const { return forward_[op]; }
  // The same collective call on the other ranks of its group; empty for everything else.
  std::span<const size_t> peers_of(size_t op) const { return peers_[op]; }
  // All calls of the op's type on its rank, in execution order.
  std::span<const size_t> same_type(size_t op) const { return by_type_[type_row_[op]]; }

 private:
  void link_backward(const ResultTable& table, const std::vector<OpError>& ops);
  void link_collectives(const ResultTable& table, const std::vector<OpError>& ops);
  void group_types(const ResultTable& table, const std::vector<OpError>& ops);

  std::vector<int64_t> forward_;
  std::vector<std::vector<size_t>> peers_;
  std::vector<std::vector<size_t>> by_type_;
  std::vector<size_t> type_row_;
};

}  // namespace ulpscope
