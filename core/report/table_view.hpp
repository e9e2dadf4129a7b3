// The rows of a comparison that has just been measured, as reports see them. Reads the table and both
// indexes, copies nothing but the head.
#pragma once

#include <string>
#include <vector>

#include "report/report_view.hpp"

namespace ulpscope {

class TableView final : public ReportView {
 public:
  // table outlives the view and does not change under it. version: of the program, for the reports.
  TableView(const ResultTable& table, std::string version);

  const ReportHead& head() const override { return head_; }
  int64_t row_count() const override { return static_cast<int64_t>(table_.rows.size()); }
  void read_row(int64_t index, RowView& row) const override;
  RowOutline outline(int64_t index) const override;
  const ResultTable& table() const { return table_; }

 private:
  void read_metrics(const ResultRow& row, RowView& view) const;

  const ResultTable& table_;
  ReportHead head_;
  std::vector<std::vector<size_t>>
      judgement_metrics_;  // for each judgement the places of its columns in metric_names
};

}  // namespace ulpscope
