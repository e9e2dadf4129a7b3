#include "report/row_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope {

RowErrorColumns::RowErrorColumns(const ReportHead& head) {
  for (size_t i = 0; i < head.metric_names.size(); ++i)
    for (const std::string_view name : {"rel_l2", "max_rel", "min_rel", "l2norm_rel"})
      if (head.metric_names[i] == name) columns_.push_back(i);
}

double RowErrorColumns::error(const RowView& row) const {
  double worst = -1;
  for (const size_t column : columns_)
    if (row.metrics[column] && !(std::fabs(*row.metrics[column]) <= worst))
      worst = std::fabs(*row.metrics[column]);
  return worst < 0 || std::isnan(worst) ? std::numeric_limits<double>::infinity() : worst;
}

bool is_worse(const RankedRow& a, const RankedRow& b) {
  if (a.verdict != b.verdict) return a.verdict > b.verdict;
  if (a.error != b.error) return a.error > b.error;
  return a.row < b.row;
}

std::vector<RankedRow> worst_rows(const ReportView& report, size_t most) {
  const RowErrorColumns columns(report.head());
  std::vector<RankedRow> ranked;
  RowView row;
  for (int64_t i = 0; i < report.row_count(); ++i) {
    if (report.outline(i).verdict < Verdict::warning) continue;
    report.read_row(i, row);
    ranked.push_back({row.verdict, columns.error(row), i});
  }
  const size_t count = std::min(most, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), ranked.end(),
                    is_worse);
  ranked.resize(count);
  return ranked;
}

}  // namespace ulpscope
