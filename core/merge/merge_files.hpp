// Writes a merged table as JSON, CSV or XLSX. Used by the merge command. No file is overwritten.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "merge/merge_table.hpp"

namespace ulpscope {

// merge_result.json: {"schema": "ulpscope.merge/1", "columns", "metrics", "rows": [{"step", "op", "tensor",
// "verdict": […],
// "<metric>": […]}]}, one value a column, null where that rank has none.
Status write_merge_json(const MergeTable& table, std::string_view version,
                        const std::vector<std::string>& command, const std::string& path);
// One line a row and metric: step, op, tensor, metric, one cell a column.
Status write_merge_csv(const MergeTable& table, const std::string& path);
// One sheet a metric: step, op, tensor, one cell a column; verdicts are coloured.
Status write_merge_xlsx(const MergeTable& table, const std::string& path);

}  // namespace ulpscope
