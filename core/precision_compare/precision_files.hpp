// The files of a comparison of two details tables: the two CSV tables of msprobe, column for column, and the
// JSON result with full precision. Used by the command precision-compare.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "precision_compare/precision_compare.hpp"

namespace ulpscope {

// What the JSON says besides the result.
struct PrecisionRun {
  std::string version, device_path, reference_path, policy_name, policy_hash;
  std::string dump;  // that the device's table is of; empty: not known
  std::vector<std::string> command;
};

// UTF-8 with a byte order mark, CRLF, numbers with 14 digits behind the point, nothing as one blank.
Status write_precision_details(const PrecisionResult& result, const std::string& path);
Status write_precision_result(const PrecisionResult& result, const std::string& path);
Status write_precision_json(const PrecisionResult& result, const PrecisionRun& run, const std::string& path);

// What the file calls a judgement: 标杆比对法 for benchmark; its own name where the file has none.
std::string_view algorithm_name(std::string_view judgement);

}  // namespace ulpscope
