// The table of `--columns msprobe`: the columns of msprobe's compare_result, cell by cell, for users who diff
// against old tables. Result and Err_message hold our judgement in its words; all other cells are what
// msprobe prints. The writer joins cells and knows nothing of them. Differences on purpose:
// docs/similarity.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/peer_cells.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// statistics, data ("all") and digest ("md5") have tables of their own.
enum class PeerMode : uint8_t { statistics, data, digest };

// The column names, in order.
std::vector<std::string> peer_header(PeerMode mode, bool has_stack);

// The rows of each step and rank of the target, in the order of the table: one file each.
struct PeerGroup {
  int32_t step = -1, rank = -1;
  std::vector<int64_t> rows;
};
std::vector<PeerGroup> peer_groups(const ResultTable& table);

// The table of one group. msprobe prints a column of statistics as floats when all of its cells are numbers,
// so the whole group is looked at before the first row is printed. References stay valid as long as the
// arguments. Any thread.
class PeerTable {
 public:
  PeerTable(const ResultTable& table, const PeerGroup& group);

  PeerMode mode() const { return mode_; }
  bool has_stack() const { return has_stack_; }
  std::vector<std::string> header() const { return peer_header(mode_, has_stack_); }
  size_t row_count() const { return group_.rows.size(); }
  // The cells of the row at a place in the group, as many as the header has.
  std::vector<std::string> row(size_t place) const;

 private:
  struct Side;
  Side side(const ResultRow& row, bool of_target) const;
  void add_element_cells(std::vector<std::string>& cells, const ResultRow& row, const Side& target,
                         const Side& golden) const;
  void add_statistics_cells(std::vector<std::string>& cells, const Side& target, const Side& golden) const;
  std::string stack_cell(size_t place) const;
  void find_float_columns();

  const ResultTable& table_;
  const PeerGroup& group_;
  PeerMode mode_ = PeerMode::statistics;
  bool has_stack_ = false;
  bool float_columns_[8] = {};  // target's four, golden's four
};

}  // namespace ulpscope
