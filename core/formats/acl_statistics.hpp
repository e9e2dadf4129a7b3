// Statistics that an offline-model run wrote in place of tensors: one CSV an operator, or one for a folder.
// Read by column names, because writers choose their columns. Used by the source of offline-model dumps.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/acl_dump.hpp"

namespace ulpscope {

// What one row says of one tensor.
struct AclStatistic {
  // Of a folder's table; empty in the file of one operator.
  std::string op_type, op_name;
  uint64_t task = 0, timestamp = 0;
  AclPart part = AclPart::input;
  uint32_t index = 0;
  int32_t data_type = 0, format = -1;  // format -1: not said
  Shape shape;
  ulpscope_stats stats = {};  // NaN and infinities that were counted are in the extremes
};

struct AclStatistics {
  std::vector<AclStatistic> rows;
  std::vector<std::string> notes;  // rows that were left out, and why
};

// The rows of a CSV text. format: no header with Input/Output, Data Type and Shape. Any thread.
Result<AclStatistics> parse_acl_statistics(std::string_view text, std::string_view where);
// The same of a file of at most 256 MiB below a root, as File::open_under.
Result<AclStatistics> read_acl_statistics(const std::string& root, const std::string& relative);

}  // namespace ulpscope
