// Reads a compare_result.json back, for `merge` and `report`, which have no dumps. What the file does not
// have stays at its default, members of later minors are ignored; a file of another schema is refused.
// Nothing in the file is trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

struct StoredSide {
  bool present = false, is_tensor = false;
  std::string op, item, dtype, value, digest;
  std::vector<int64_t> shape;
};

struct StoredRow {
  int32_t step = -1, rank = -1, token = -1;
  int64_t op_pair = 0;
  StoredSide target, golden;
  std::string match, mode, judgement, absent, message, module;
  int64_t producer = -1;  // a row, or -1
  std::optional<ErrorOctaves> octaves;
  Verdict judged = Verdict::skip, verdict = Verdict::skip;
  Cause cause = Cause::none;
  bool unreadable = false, bit_identical = false;
  std::vector<std::pair<uint32_t, double>> metrics;  // index in ReportHead::metric_names, value
};

struct StoredResult {
  ReportHead head;
  std::vector<StoredRow> rows;
};

// What a file may hold at most; a larger one is refused, since it is kept in memory.
struct ReadLimits {
  uint64_t file_bytes = uint64_t{4} << 30;
  size_t rows = 20'000'000;
};

// io: no such file; format: not JSON, nested deeper than 64, another schema, or a member of another type than
// the schema says (the message names it: "rows[3].step"); beyond the limits. Any thread.
Result<StoredResult> read_result(const std::string& path, const ReadLimits& limits = {});

// A stored result as reports see it.
class StoredView final : public ReportView {
 public:
  // result outlives the view.
  explicit StoredView(const StoredResult& result) : result_(result) {}
  const ReportHead& head() const override { return result_.head; }
  int64_t row_count() const override { return static_cast<int64_t>(result_.rows.size()); }
  void read_row(int64_t index, RowView& row) const override;
  RowOutline outline(int64_t index) const override;

 private:
  const StoredResult& result_;
};

}  // namespace ulpscope
