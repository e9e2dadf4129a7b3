// How far a row is off, as one number, and which rows are the worst: what reports that cannot show every row
// choose by. Used by the Markdown report and the page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/report_view.hpp"

namespace ulpscope {

// The metrics that the number is read from: the relative error of the whole tensor, of the statistics where
// there are only those.
class RowErrorColumns {
 public:
  explicit RowErrorColumns(const ReportHead& head);
  // The largest of them. A row without such a number (another shape, a NaN) is infinitely far off.
  double error(const RowView& row) const;

 private:
  std::vector<size_t> columns_;  // of RowView::metrics
};

struct RankedRow {
  Verdict verdict = Verdict::skip;
  double error = 0;
  int64_t row = 0;
};

// Whether a is worse than b: by verdict, then by error, then by place.
bool is_worse(const RankedRow& a, const RankedRow& b);

// Rows that warn or fail, at most that many, worst first. Reads every row. Any thread.
std::vector<RankedRow> worst_rows(const ReportView& report, size_t most);

}  // namespace ulpscope
