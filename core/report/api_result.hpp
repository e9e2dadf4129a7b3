// Reads check_result.json and precision_compare_result.json, call by call, for their page. What a file does
// not have stays at its default, members of later minors are ignored, a file of another schema is refused.
// Nothing in the file is trusted; one call at a time is in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// Schemas of these files.
constexpr std::string_view kCheckSchema = "ulpscope.check/1",
                           kPrecisionSchema = "ulpscope.precision_compare/1";
constexpr std::string_view kCheckFile = "check_result.json";

// One number of an output. A check has value alone; a comparison of two devices has what there is of all.
struct ApiMetric {
  std::string_view name;
  std::optional<double> value, reference, ratio;
  std::optional<Verdict> verdict;  // of this number alone
};

struct ApiOutput {
  std::string_view name;  // "Torch.matmul.0.forward.output.0"
  std::string_view algorithm, golden_dtype, device_dtype, shape, message;
  Verdict verdict = Verdict::skip;
  std::vector<ApiMetric> metrics;
};

// Valid until the next call is read. A direction that was not run has no verdict.
struct ApiCall {
  std::string_view api;  // "Torch.matmul.0"
  std::optional<Verdict> forward, backward;
  std::string_view message;
  std::vector<ApiOutput> outputs;

  // The worse of both directions.
  Verdict verdict() const;
};

struct ApiHead {
  std::string schema, version;
  std::vector<std::string> command, notices;
  std::string dump;               // that was checked; empty where the file does not know it
  std::string device, reference;  // of a check: what it ran on; else the tables of both sides
  std::string policy_name;
  int64_t seed = -1;
  int64_t apis = 0, pass = 0, warning = 0, error = 0, skip = 0, outputs = 0, unreadable = 0;
};

// Gives each call to take, in the order of the file, and answers the rest. io: reading failed; format: not
// JSON, another schema, a call that is too large, or a member of another type than the schema says (the
// message names it: "apis[3].forward"); else the first error of take. Any thread.
Result<ApiHead> read_api_result(const File& file, const std::function<Status(const ApiCall&)>& take);

// The dump that the check of this folder was of, by its check_result.json; empty where there is none that
// says so. Any thread.
std::string checked_dump(const std::string& folder);

}  // namespace ulpscope
