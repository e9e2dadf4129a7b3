// File names of offline-model dumps: which names are dump files and what they say, and the list that gives
// hashed names their real ones. Pure text; opens nothing but mapping.csv.
//
//   normal      {op_type}.{op_name}.{task}.{stream}.{timestamp}
//   old         {op_type}.{op_name}.{task}.{timestamp}
//   sliced      normal + .{task_type}.{context}.{thread}.{device}
//   statistics  normal + .csv
//   overflow    Opdebug.Node_OpDebug.{task}.{stream}.{timestamp}
//   hash        decimal digits; the real name stands in mapping.csv
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

enum class AclFileKind : uint8_t { tensors, statistics, overflow };

struct AclFileName {
  AclFileKind kind = AclFileKind::tensors;
  std::string op_type, op_name;  // escaped, as they stand in the name
  uint64_t task = 0, timestamp = 0;
  int64_t stream = -1, context = -1, thread = -1;  // -1: the name has none
  bool sliced = false;
  // Microseconds have 16 digits; another timestamp says nothing of the order.
  bool timed = false;
};

// Nothing when the name has none of the forms.
std::optional<AclFileName> parse_acl_name(std::string_view name);

// Whether a name is all digits: the hash of a name that was too long.
bool is_acl_hash(std::string_view name);

// The rows of root/relative, a mapping.csv: file name to real name. Rows that are none are told in notes. As
// File::open_under, or format when the file is larger than 64 MiB.
struct AclNameMap {
  std::map<std::string, std::string, std::less<>> names;
  std::vector<std::string> notes;
};
Result<AclNameMap> read_acl_mapping(const std::string& root, const std::string& relative);

// "{name}.{output}.{timestamp}", the stem of a golden .npy file; nothing for another form.
struct GoldenName {
  std::string_view name;
  uint32_t output = 0;
  uint64_t timestamp = 0;
};
std::optional<GoldenName> parse_golden_name(std::string_view stem);

}  // namespace ulpscope
