#include "report/page_data.hpp"

#include <array>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "report/finding.hpp"
#include "report/json.hpp"
#include "report/json_text.hpp"
#include "report/page_columns.hpp"
#include "report/page_texts.hpp"

namespace ulpscope {
namespace {

// Metrics that others say: euclidean is rmse by the element count, snr_db is rel_l2 in decibels.
constexpr std::array<std::string_view, 2> kLeftOut = {"euclidean", "snr_db"};
// Close to 1, where 14 bits of mantissa would show nothing: kept as its distance from 1.
constexpr std::string_view kNearOne = "cosine";
constexpr size_t kMaxHistograms = 10'000;
// Culprits that get their sentences; the others have their numbers.
constexpr size_t kToldCulprits = 50;

constexpr std::array kIntegerColumns = {
    "row",          "step",          "rank",   "token",        "op_pair", "op",           "tensor",
    "golden_op",    "golden_tensor", "dtype",  "golden_dtype", "shape",   "golden_shape", "value",
    "golden_value", "match",         "mode",   "judgement",    "absent",  "message",      "module",
    "producer",     "verdict",       "judged", "cause",        "flags"};
constexpr int32_t kUnreadable = 1, kBitIdentical = 2, kTensor = 4;

class PageBuilder {
 public:
  PageBuilder(const ReportView& report, const std::vector<int64_t>& rows)
      : report_(report),
        rows_(rows),
        integers_(kIntegerColumns.size()),
        numbers_(report.head().metric_names.size()),
        is_met_(report.head().metric_names.size(), false) {
    page_row_.reserve(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) page_row_.emplace(rows[i], static_cast<int32_t>(i));
    for (std::vector<int32_t>& column : integers_) column.reserve(rows.size());
    for (std::vector<uint64_t>& column : numbers_) column.reserve(rows.size());
    for (const std::string& name : report.head().metric_names) near_one_.push_back(name == kNearOne);
  }

  void read() {
    RowView row;
    row.wants_octaves = true;
    for (size_t i = 0; i < rows_.size(); ++i) {
      report_.read_row(rows_[i], row);
      add_row(row, rows_[i]);
      if (row.has_octaves && histogram_count_ < kMaxHistograms) add_histogram(row.octaves, i);
    }
  }

  Result<PageBlocks> finish(ThreadPool* pool) const {
    const std::vector<size_t> metrics = shown_metrics();
    const std::vector<std::span<const int32_t>> integers(integers_.begin(), integers_.end());
    std::vector<std::span<const uint64_t>> numbers;
    for (const size_t metric : metrics) numbers.emplace_back(numbers_[metric]);
    ULPSCOPE_ASSIGN(PackedColumns columns, pack_columns(integers, numbers, pool));
    PageBlocks page;
    page.columns = std::move(columns.blocks);
    ULPSCOPE_ASSIGN(page.header, packed(header(metrics, columns.planes)));
    return page;
  }

 private:
  void add_row(const RowView& row, int64_t number) {
    size_t column = 0;
    const auto put = [&](int64_t value) { integers_[column++].push_back(static_cast<int32_t>(value)); };
    const auto put_text = [&](std::string_view text, bool there = true) {
      put(there ? texts_.number(text) : -1);
    };
    put(number);
    put(row.step);
    put(row.rank);
    put(row.token);
    put(row.op_pair);
    put_text(row.target.op, row.target.present);
    put_text(row.target.item, row.target.present);
    put_text(row.golden.op, row.golden.present);
    put_text(row.golden.item, row.golden.present);
    put_text(row.target.dtype, row.target.present);
    put_text(row.golden.dtype, row.golden.present);
    put_text(shape_text(row.target));
    put_text(shape_text(row.golden));
    put_text(value_of(row.target));
    put_text(value_of(row.golden));
    put_text(row.match);
    put_text(row.mode);
    put_text(row.judgement);
    put_text(row.absent);
    put_text(row.message);
    put_text(row.module);
    put(page_row(row.producer));
    put(static_cast<int32_t>(row.verdict));
    put(static_cast<int32_t>(row.judged));
    put(static_cast<int32_t>(row.cause));
    put((row.unreadable ? kUnreadable : 0) | (row.bit_identical ? kBitIdentical : 0) |
        (row.named().is_tensor ? kTensor : 0));
    for (size_t i = 0; i < numbers_.size(); ++i) {
      std::optional<double> value = row.metrics[i];
      if (value && near_one_[i]) value = 1 - *value;
      is_met_[i] = is_met_[i] || value.has_value();
      numbers_[i].push_back(page_bits(value));
    }
  }

  const std::string& shape_text(const RowSide& side) {
    shape_.clear();
    if (side.present && side.is_tensor) append_shape(shape_, side.shape);
    return shape_;
  }
  static std::string_view value_of(const RowSide& side) {
    if (!side.present) return {};
    return side.is_tensor ? side.digest : side.value;
  }

  int32_t page_row(int64_t row) const {
    const auto found = page_row_.find(row);
    return found == page_row_.end() ? -1 : found->second;
  }

  // [row, first exponent, zeros, [counts]]
  void add_histogram(const ErrorOctaves& octaves, size_t row) {
    histograms_ += histogram_count_++ == 0 ? "[" : ",[";
    append_json_number(histograms_, static_cast<int64_t>(row));
    histograms_ += ',';
    append_json_number(histograms_, int64_t{octaves.first});
    histograms_ += ',';
    append_json_number(histograms_, octaves.zeros);
    histograms_ += ',';
    append_json_shape(histograms_, octaves.counts);
    histograms_ += ']';
  }

  std::vector<size_t> shown_metrics() const {
    std::vector<size_t> shown;
    for (size_t i = 0; i < numbers_.size(); ++i) {
      const std::string& name = report_.head().metric_names[i];
      if (is_met_[i] && name != kLeftOut[0] && name != kLeftOut[1]) shown.push_back(i);
    }
    return shown;
  }

  static void append_texts(std::string& out, const std::vector<std::string>& texts) {
    out += '[';
    for (size_t i = 0; i < texts.size(); ++i) {
      if (i != 0) out += ',';
      append_json_string(out, texts[i]);
    }
    out += ']';
  }

  // For culprits or suspects: their rows of the page, and what their numbers say.
  void append_told(std::string& out, const std::vector<Culprit>& culprits) const {
    out += "{\"rows\":[";
    for (size_t i = 0; i < culprits.size(); ++i) {
      if (i != 0) out += ',';
      append_json_number(out, int64_t{page_row(culprits[i].row)});
    }
    out += "],\"sentences\":[";
    for (size_t i = 0; i < culprits.size() && i < kToldCulprits; ++i) {
      if (i != 0) out += ',';
      append_texts(out, culprit_sentences(report_, culprits[i]));
    }
    out += "]}";
  }

  void append_columns(std::string& out, const std::vector<size_t>& metrics,
                      const std::vector<int>& planes) const {
    out += '[';
    for (const char* name : kIntegerColumns) {
      if (out.back() != '[') out += ',';
      out.append("{\"name\":\"").append(name).append("\",\"kind\":\"integer\"}");
    }
    for (size_t i = 0; i < metrics.size(); ++i) {
      out += ",{\"name\":";
      append_json_string(out, report_.head().metric_names[metrics[i]]);
      out += ",\"kind\":\"number\",\"planes\":" + std::to_string(planes[i]);
      if (near_one_[metrics[i]]) out += ",\"near_one\":true";
      out += '}';
    }
    out += ']';
  }

  std::string header(const std::vector<size_t>& metrics, const std::vector<int>& planes) const {
    const Localisation& found = report_.head().localisation;
    std::string out;
    append_json_head(out, report_.head());
    out += ",\"diagnostics\":";
    append_json_diagnostics(out, report_.head());
    out += ",\"page\":{\"all_rows\":" + std::to_string(report_.row_count());
    out += ",\"rows\":" + std::to_string(rows_.size()) + ",\"sentences\":";
    append_texts(out, run_sentences(report_));
    append_told(out += ",\"culprits\":", found.culprits);
    append_told(out += ",\"suspects\":", found.suspects);
    out += ",\"texts\":" + texts_.json() + ",\"histograms\":[" + histograms_ + "],\"columns\":";
    append_columns(out, metrics, planes);
    return out + "}}";
  }

  const ReportView& report_;
  const std::vector<int64_t>& rows_;
  std::vector<std::vector<int32_t>> integers_;
  std::vector<std::vector<uint64_t>> numbers_;  // by metric
  std::vector<bool> is_met_, near_one_;
  std::unordered_map<int64_t, int32_t> page_row_;
  PageTexts texts_;
  std::string histograms_, shape_;
  size_t histogram_count_ = 0;
};

}  // namespace

Result<PageBlocks> page_blocks(const ReportView& report, const std::vector<int64_t>& rows, ThreadPool* pool) {
  PageBuilder builder(report, rows);
  builder.read();
  return builder.finish(pool);
}

}  // namespace ulpscope
