// Which rows of a large run the page of report.html holds: all of them up to a limit, else the worst and an
// even sample of the others, so that curve and map keep their outline. Used by page_data.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "report/report_view.hpp"

namespace ulpscope {

// Rows of the report in its order, at most limit of them; those of culprits and suspects are always among
// them as long as limit allows. limit: at least 1. Reads every row where there are more than limit.
std::vector<int64_t> choose_page_rows(const ReportView& report, int64_t limit);

}  // namespace ulpscope
