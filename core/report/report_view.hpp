// What every report is made of, wherever it comes from: a comparison that has just been measured
// (table_view.hpp) or the compare_result.json of an earlier one (read_result.hpp). Rows are visited one by
// one in report order, so that no writer holds them all. Used by the writers; knows no file format.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/result_table.hpp"

namespace ulpscope {

// One side of a row. Texts come from dumps and may hold any byte.
struct RowSide {
  bool present = false;    // false: no partner on this side; nothing below is set
  bool is_tensor = false;  // otherwise an argument with type and value
  std::string_view op, item;
  std::string_view dtype;  // "float32" or the type of an argument, "int"
  std::span<const int64_t> shape;
  std::string_view value;   // arguments: JSON text
  std::string_view digest;  // as recorded: "crc32:1b2c3d4e"
};

// One row. Views stay valid until the same RowView is read again.
struct RowView {
  int32_t step = -1, rank = -1, token = -1;  // -1: not known
  int64_t op_pair = 0;                       // rows of one op pair follow each other and have this in common
  RowSide target, golden;
  std::string_view match, mode, judgement, absent, message;  // absent: empty for rows that were judged
  std::string_view module;  // the innermost module around the op, empty where none is recorded
  int64_t producer = -1;    // inputs: the row of the output that the target's value came from; -1: not known
  Verdict judged = Verdict::skip, verdict = Verdict::skip;
  Cause cause = Cause::none;
  bool unreadable = false;
  bool bit_identical = false;  // both sides are the same bytes of the same type, as far as is known
  bool wants_metrics = true;   // set to false by a reader that needs none: metrics stays empty
  bool wants_octaves = false;  // set to true by a reader that shows how the errors spread
  bool has_octaves = false;    // octaves is known for this row, and asked for
  ErrorOctaves octaves;
  std::vector<std::optional<double>> metrics;  // in the order of ReportHead::metric_names
  std::string target_item, golden_item;        // room for names that are put together

  bool one_sided() const { return target.present != golden.present; }
  // The side that names the row: the target where there is one.
  const RowSide& named() const { return target.present ? target : golden; }
};

// What a row is, without its names and numbers: enough to count rows and to choose those to read. Views stay
// valid as long as the report.
struct RowOutline {
  bool on_target = false, on_golden = false;  // whether the side is present
  int64_t op_pair = 0;
  std::string_view match, mode, message;
  Verdict verdict = Verdict::skip;

  bool one_sided() const { return on_target != on_golden; }
};

// Everything of a report but its rows.
struct ReportHead {
  std::string schema = "ulpscope.compare/1", version;
  std::vector<std::string> command;
  SideInfo target, golden;
  std::optional<SideInfo> reference;  // of a three-way judgement
  std::string policy_file, policy_profile, policy_hash;
  Summary summary;
  Localisation localisation;
  std::vector<std::string> notices;
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string>
      metric_names;  // general ones in their order, then those of judgements, "ulp.max_ulp_err"
};

class ReportView {
 public:
  virtual ~ReportView() = default;
  virtual const ReportHead& head() const = 0;
  virtual int64_t row_count() const = 0;
  // Fills row with the index-th row, index in [0, row_count()). Any thread, each with a RowView of its own.
  virtual void read_row(int64_t index, RowView& row) const = 0;
  // The same row in outline, at a fraction of the cost. Any thread.
  virtual RowOutline outline(int64_t index) const = 0;
};

// "[2, 5]" as Python writes it; "[]" for a scalar.
void append_shape(std::string& out, std::span<const int64_t> shape);

}  // namespace ulpscope
