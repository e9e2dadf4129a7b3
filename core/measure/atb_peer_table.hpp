// The table of `--columns msprobe` for two ATB dumps: the columns and cells of msprobe's atb compare, for
// users who diff against old tables. It holds no verdict. Rows of one side only are not in it, as in the old
// one. Used by the writer of that table.
#pragma once

#include <string>
#include <vector>

#include "measure/peer_table.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// Whether both sides are dumps of this kind.
bool is_atb_comparison(const ResultTable& table);

// The table of one group. References stay valid as long as the arguments. Any thread.
class AtbPeerTable {
 public:
  AtbPeerTable(const ResultTable& table, const PeerGroup& group);

  bool has_elements() const { return has_elements_; }
  std::vector<std::string> header() const;
  size_t row_count() const { return rows_.size(); }
  // As many cells as the header has.
  std::vector<std::string> row(size_t place) const;

 private:
  void add_element_cells(std::vector<std::string>& cells, const ResultRow& row) const;
  void add_statistics_cells(std::vector<std::string>& cells, const ResultRow& row) const;

  const ResultTable& table_;
  std::vector<int64_t> rows_;
  bool has_elements_ = false;
  std::string target_root_, golden_root_;
};

}  // namespace ulpscope
