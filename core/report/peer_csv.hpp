// Writes the tables of `--columns msprobe`: the columns and cells of msprobe's compare_result files, under
// its file names, for users who diff against old tables.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "report/acl_peer_csv.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// Writes one table for each step and rank into folder, which is there, and answers their paths:
// compare_result_<time>.csv for a single table, compare_result_rank<R>_<time>.csv for several ranks, with
// step<S>_ before it for several steps. Between two ATB dumps the stem is atb_tensor_compare_result or
// atb_stats_compare_result, as there. time is local, YYYYMMDDhhmmss. UTF-8 with a byte order mark. A
// comparison of an offline model is one table, result_<time>.csv, with columns of its own. io: a
// file exists or cannot be written. Any thread.
// columns: those that only the table of an offline model has.
Result<std::vector<std::string>> write_peer_tables(const ResultTable& table, const std::string& folder,
                                                   const AclPeerColumns& columns = {});

}  // namespace ulpscope
