// The table of `--columns msprobe` for offline models: the columns of the older tool's result file, for users
// who diff against old tables. Numbers are ours, in double and with right answers where that tool's are not
// (docs/sources/acl_om.md). Used by peer_csv.
#pragma once

#include <string>

#include "base/result.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// Columns that the older tool writes only when it is asked to.
struct AclPeerColumns {
  bool sequence = false;  // OpSequence: the place of the operator in the order of execution, from 0
  bool overflow = false;  // OverFlow: whether a float16 tensor reaches the largest number of its type
};

// Writes the table to path. io. Any thread.
Status write_acl_peer_table(const ResultTable& table, const std::string& path,
                            const AclPeerColumns& columns = {});

}  // namespace ulpscope
