// Many comparison results side by side: one row an operation's tensor, one column a rank of a run, for chosen
// metrics. Reads compare_result.json files only; needs no dump. Used by the merge command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "report/read_result.hpp"

namespace ulpscope {

// What to take over; empty lists mean all rows and the metrics that the results have.
struct MergeRequest {
  std::vector<std::string>
      apis;  // parts of names, as the peer's configuration has them: "Torch.matmul", "linear.3"
  std::vector<std::string> metrics;  // our names; "verdict" is one of them
  std::string name_glob;             // matched against the operation's name
};

// A rank of a run.
struct MergeColumn {
  std::string path;   // of its result
  std::string label;  // "rank0"; "run_a rank0" or "day/run_a rank0" where less would not tell it apart
  int32_t rank = -1;
  std::vector<std::vector<std::optional<double>>> values;  // by metric, then by row; may end early
  std::vector<std::optional<Verdict>> verdicts;            // by row; may end early

  std::optional<double> value(size_t metric, size_t row) const;
  std::optional<Verdict> verdict(size_t row) const;
};

struct MergeRow {
  int32_t step = -1;
  std::string op, item;
};

class MergeTable {
 public:
  explicit MergeTable(MergeRequest request);
  // Adds a column for each rank of a result. Rows keep the order in which they first appear.
  void add(const StoredResult& result, const std::string& path);
  // Names the columns and, where ranks tell them apart, sorts them by rank. Once, after the last add.
  void finish();

  const std::vector<MergeColumn>& columns() const { return columns_; }
  const std::vector<MergeRow>& rows() const { return rows_; }
  // Without "verdict".
  const std::vector<std::string>& metrics() const { return metrics_; }
  bool has_verdict() const { return has_verdict_; }
  // Metrics that were asked for and are in no result.
  const std::vector<std::string>& missing_metrics() const { return missing_; }
  // Rows that had the step, rank and name of an earlier row of their result, and were left out.
  int64_t repeated() const { return repeated_; }

 private:
  size_t row_of(const StoredRow& row, const StoredSide& named);
  size_t metric_of(std::string_view name);
  bool wanted(const StoredSide& named) const;

  MergeRequest request_;
  std::vector<MergeColumn> columns_;
  std::vector<MergeRow> rows_;
  std::unordered_map<std::string, size_t> row_ids_;
  std::vector<std::string> metrics_, missing_;
  bool has_verdict_ = true;
  int64_t repeated_ = 0;
};

// The results below the paths: a compare_result.json itself, a folder that holds one, or a folder of such
// folders, in the order of their names. A path that is missing or holds no result is an error of code io in
// problems; the others are looked at even so.
std::vector<std::string> find_results(const std::vector<std::string>& paths, std::vector<Error>& problems);

}  // namespace ulpscope
