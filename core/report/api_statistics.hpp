// What a whole check says before its single calls: which APIs are in error and which call shows each best,
// what every judgement said, why calls were skipped. Used by the page of check and precision-compare.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/api_result.hpp"

namespace ulpscope {

// The output that shows best why an API is in error or has a warning.
struct ApiSample {
  std::string api, direction, output;  // "Torch.matmul.2", "forward", "output.0"
  std::string algorithm, dtype, shape, message;
  std::string metric;                             // the number that says most; empty where none was measured
  std::optional<double> value, reference, ratio;  // of that metric
  double badness = -1;                            // larger is worse
};

// All calls of one API: "Torch.matmul".
struct ApiGroup {
  std::string name;
  int64_t calls = 0, error = 0, warning = 0;
  ApiSample sample;
};

// Counts by verdict: skip, pass, warning, error.
using VerdictCounts = std::array<int64_t, 4>;

class ApiStatistics {
 public:
  void add(const ApiCall& call);

  // APIs with errors or warnings, those with most errors first.
  std::vector<const ApiGroup*> bad_groups() const;
  // Outputs by the judgement that measured them.
  const std::map<std::string, VerdictCounts, std::less<>>& judgements() const { return judgements_; }
  // Calls by the reason that they were skipped for; at most kMostReasons, the others under "".
  const std::map<std::string, int64_t, std::less<>>& reasons() const { return reasons_; }
  // By call, in the order of the file: verdict, and rows that it takes in the page.
  const std::vector<Verdict>& verdicts() const { return verdicts_; }
  const std::vector<uint32_t>& rows() const { return rows_; }

  static constexpr size_t kMostReasons = 200, kMostGroups = 100'000, kMostJudgements = 200;

 private:
  void add_outputs(const ApiCall& call, ApiGroup& group);

  std::map<std::string, ApiGroup, std::less<>> groups_;
  std::map<std::string, VerdictCounts, std::less<>> judgements_;
  std::map<std::string, int64_t, std::less<>> reasons_;
  std::vector<Verdict> verdicts_;
  std::vector<uint32_t> rows_;
};

// "Torch.matmul" for "Torch.matmul.2".
std::string_view api_kind(std::string_view api);

// The parts of an output's name behind that of its call: "forward" and "output.0"; the direction is empty,
// and the output the whole name, where it is not of that form.
struct OutputNameParts {
  std::string_view direction, output;
};
OutputNameParts output_place(std::string_view api, std::string_view name);

}  // namespace ulpscope
