#include "report/page_rows.hpp"

#include <algorithm>
#include <numeric>

#include "report/row_error.hpp"

namespace ulpscope {
namespace {

// Of the limit, what the worst rows may take; the rest shows what the run looks like between them.
constexpr int64_t kWorstTenths = 6;

}  // namespace

std::vector<int64_t> choose_page_rows(const ReportView& report, int64_t limit) {
  const int64_t count = report.row_count();
  std::vector<int64_t> chosen;
  if (count <= limit) {
    chosen.resize(static_cast<size_t>(count));
    std::iota(chosen.begin(), chosen.end(), int64_t{0});
    return chosen;
  }
  std::vector<bool> taken(static_cast<size_t>(count), false);
  int64_t left = limit;
  const auto take = [&](int64_t row) {
    if (left == 0 || row < 0 || row >= count || taken[static_cast<size_t>(row)]) return;
    taken[static_cast<size_t>(row)] = true;
    --left;
  };
  const Localisation& found = report.head().localisation;
  for (const auto* list : {&found.culprits, &found.suspects})
    for (const Culprit& culprit : *list) take(culprit.row);
  const int64_t worst = std::min(left, limit * kWorstTenths / 10);
  for (const RankedRow& row : worst_rows(report, static_cast<size_t>(worst))) take(row.row);
  // Evenly among all: row k * count / places, each once.
  const int64_t places = left;
  for (int64_t i = 0; i < places; ++i)
    take(static_cast<int64_t>(static_cast<double>(i) * static_cast<double>(count) /
                              static_cast<double>(places)));
  for (int64_t i = 0; i < count; ++i)
    if (taken[static_cast<size_t>(i)]) chosen.push_back(i);
  return chosen;
}

}  // namespace ulpscope
