// check_result.json: what the tables hold, with full precision, and a summary of the run. Written as the APIs
// finish, so that a run of any length needs no memory for it. Used by the host of the check; one thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "execute/check_report.hpp"
#include "report/output_file.hpp"

namespace ulpscope {

// APIs by the worse of their two directions.
struct CheckSummary {
  int64_t apis = 0, passed = 0, warned = 0, failed = 0, skipped = 0, outputs = 0, bad_data = 0;
  void add(const CheckReport& report);
};

struct CheckRun {
  std::string version, dump, policy_name, policy_hash;
  std::vector<std::string> command;
  int64_t seed = 0;
};

class CheckJson {
 public:
  // io: the file exists or cannot be made.
  static Result<CheckJson> begin(const std::string& path, const CheckRun& run);
  void add(const CheckReport& report);
  // Completes the file. io: not everything could be written.
  Status finish(const CheckSummary& summary, const std::string& device,
                const std::vector<std::string>& notices);

 private:
  explicit CheckJson(OutputFile file) : file_(std::move(file)) {}
  OutputFile file_;
  bool first_ = true;
};

}  // namespace ulpscope
