// The table of `--columns msprobe` for offline models: the columns of the older tool's result file, for users
// who diff against old tables. Numbers are ours, in double and with right answers where that tool's are not
// (docs/sources/acl_om.md). Used by peer_csv.
#pragma once

#include <string>

#include "base/result.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// Writes the table to path. io. Any thread.
Status write_acl_peer_table(const ResultTable& table, const std::string& path);

}  // namespace ulpscope
