#include "report/xlsx.hpp"

#include <xlsxwriter.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "report/csv.hpp"
#include "report/output_file.hpp"
#include "report/xml_text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMaxCellUnits = 32'767;  // of UTF-16, the limit of the format
constexpr uint16_t kNameColumnWidth = 40, kColumnWidth = 14;
// The colours of the peer's graph: a reader of both finds his way.
constexpr lxw_color_t kFailColour = 0xFF704D, kWarningColour = 0xFFDC7F, kSkipColour = 0xC7C7C7,
                      kHeaderColour = 0xD9E1F2;

struct Formats {
  lxw_format *header, *fail, *warning, *skip;
  lxw_format* of(Verdict verdict) const {
    switch (verdict) {
      case Verdict::fail:
        return fail;
      case Verdict::warning:
        return warning;
      case Verdict::skip:
        return skip;
      case Verdict::pass:
        return nullptr;
    }
    return nullptr;
  }
};

lxw_format* filled_format(lxw_workbook* workbook, lxw_color_t colour) {
  lxw_format* format = workbook_add_format(workbook);
  format_set_pattern(format, LXW_PATTERN_SOLID);
  format_set_bg_color(format, colour);
  return format;
}

// text cut to what a cell can hold, at a character's start.
std::string cell_text(std::string_view text) {
  std::string safe = xml_characters(text);
  if (safe.size() <= kMaxCellUnits) return safe;
  // A character of n bytes has at most n units: cutting by bytes is enough.
  size_t end = kMaxCellUnits - 3;
  while (end > 0 && (static_cast<unsigned char>(safe[end]) & 0xC0) == 0x80) --end;
  return safe.substr(0, end) + "…";
}

// Cells of one row, from left to right. The first error is kept.
class Line {
 public:
  Line(lxw_worksheet* sheet, lxw_row_t row, lxw_format* format) : sheet_(sheet), row_(row), format_(format) {}

  Line& text(std::string_view value) {
    if (!value.empty())
      check(worksheet_write_string(sheet_, row_, column_, cell_text(value).c_str(), format_));
    ++column_;
    return *this;
  }
  Line& number(double value) {
    if (!std::isfinite(value)) return text(number_text(value));
    check(worksheet_write_number(sheet_, row_, column_++, value, format_));
    return *this;
  }
  Line& number_or_empty(int64_t value) { return value < 0 ? text({}) : number(static_cast<double>(value)); }
  lxw_error error() const { return error_; }

 private:
  void check(lxw_error error) {
    if (error_ == LXW_NO_ERROR) error_ = error;
  }
  lxw_worksheet* sheet_;
  lxw_row_t row_;
  lxw_col_t column_ = 0;
  lxw_format* format_;
  lxw_error error_ = LXW_NO_ERROR;
};

class Workbook {
 public:
  explicit Workbook(const std::string& path) {
    lxw_workbook_options options = {};
    options.constant_memory = LXW_TRUE;
    workbook_ = workbook_new_opt(path.c_str(), &options);
    if (workbook_ == nullptr) return;
    formats_ = {filled_format(workbook_, kHeaderColour), filled_format(workbook_, kFailColour),
                filled_format(workbook_, kWarningColour), filled_format(workbook_, kSkipColour)};
    format_set_bold(formats_.header);
  }
  Workbook(const Workbook&) = delete;
  Workbook& operator=(const Workbook&) = delete;
  ~Workbook() {
    if (workbook_ != nullptr) workbook_close(workbook_);
  }

  bool is_open() const { return workbook_ != nullptr; }
  void write_summary(const ReportHead& head);
  void write_rows(const ReportView& report, int64_t rows_per_sheet);
  void write_diagnostics(const ReportHead& head);
  // Packs and closes the file.
  lxw_error close() {
    const lxw_error error = workbook_close(std::exchange(workbook_, nullptr));
    return error_ == LXW_NO_ERROR ? error : error_;
  }

 private:
  lxw_worksheet* add_sheet(const std::string& name) {
    lxw_worksheet* sheet = workbook_add_worksheet(workbook_, name.c_str());
    if (sheet == nullptr) check(LXW_ERROR_MEMORY_MALLOC_FAILED);
    return sheet;
  }
  // A sheet whose first line is frozen and carries filters once its length is known.
  lxw_worksheet* add_table(const std::string& name, const std::vector<std::string>& columns);
  void check(lxw_error error) {
    if (error_ == LXW_NO_ERROR) error_ = error;
  }
  void write_culprits(lxw_worksheet* sheet, lxw_row_t first, const Localisation& localisation);

  lxw_workbook* workbook_ = nullptr;
  Formats formats_ = {};
  lxw_error error_ = LXW_NO_ERROR;
};

lxw_worksheet* Workbook::add_table(const std::string& name, const std::vector<std::string>& columns) {
  lxw_worksheet* sheet = add_sheet(name);
  if (sheet == nullptr) return nullptr;
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool wide =
        columns[i] == "op" || columns[i] == "golden_op" || columns[i] == "message" || columns[i] == "where";
    const auto column = static_cast<lxw_col_t>(i);
    check(worksheet_set_column(sheet, column, column, wide ? kNameColumnWidth : kColumnWidth, nullptr));
  }
  Line line(sheet, 0, formats_.header);
  for (const std::string& column : columns) line.text(column);
  check(line.error());
  worksheet_freeze_panes(sheet, 1, 0);
  return sheet;
}

void Workbook::write_culprits(lxw_worksheet* sheet, lxw_row_t first, const Localisation& localisation) {
  Line header(sheet, first, formats_.header);
  for (const char* name :
       {"", "kind", "op", "tensor", "step", "rank", "token", "confidence", "module", "next"})
    header.text(name);
  check(header.error());
  lxw_row_t row = first + 1;
  for (const auto* list : {&localisation.culprits, &localisation.suspects}) {
    const bool suspects = list == &localisation.suspects;
    for (const Culprit& culprit : *list) {
      Line line(sheet, row++, suspects ? nullptr : formats_.fail);
      line.text(suspects ? "suspect" : "culprit")
          .text(culprit.kind)
          .text(culprit.op_name)
          .text(culprit.tensor);
      line.number_or_empty(culprit.step).number_or_empty(culprit.rank).number_or_empty(culprit.token);
      line.text(culprit.confidence)
          .text(culprit.module)
          .text(culprit.next.empty() ? "" : culprit.next.front());
      check(line.error());
    }
  }
}

void Workbook::write_summary(const ReportHead& head) {
  lxw_worksheet* sheet = add_sheet("Summary");
  if (sheet == nullptr) return;
  check(worksheet_set_column(sheet, 0, 1, kColumnWidth, nullptr));
  check(worksheet_set_column(sheet, 2, 2, kNameColumnWidth, nullptr));
  lxw_row_t row = 0;
  const auto text = [&](const char* name, std::string_view value) {
    check(Line(sheet, row++, nullptr).text(name).text(value).error());
  };
  const auto number = [&](const char* name, int64_t value) {
    check(Line(sheet, row++, nullptr).text(name).number(static_cast<double>(value)).error());
  };
  text("finding", head.localisation.verdict);
  text("target", head.target.path);
  text("golden", head.golden.path);
  text("profile", head.policy_profile);
  text("version", head.version);
  const Summary& summary = head.summary;
  number("pairs", summary.pairs);
  number("pass", summary.pass);
  number("warning", summary.warning);
  number("fail", summary.fail);
  number("skip", summary.skip);
  number("only_target", summary.only_target);
  number("only_golden", summary.only_golden);
  number("unreadable", summary.unreadable);
  number("diagnostics", summary.diagnostics);
  write_culprits(sheet, row + 1, head.localisation);
}

lxw_error write_row(lxw_worksheet* sheet, lxw_row_t at, const RowView& row, lxw_format* format) {
  Line line(sheet, at, format);
  line.number_or_empty(row.step).number_or_empty(row.rank);
  line.text(row.target.op).text(row.target.item).text(row.golden.op).text(row.golden.item).text(row.match);
  line.text(row.target.dtype).text(row.golden.dtype);
  for (const RowSide* side : {&row.target, &row.golden}) {
    std::string shape;
    if (side->present && side->is_tensor) append_shape(shape, side->shape);
    line.text(shape);
  }
  line.text(row.judgement).text(to_text(row.judged));
  line.text(row.cause == Cause::none ? std::string_view() : to_text(row.cause)).text(to_text(row.verdict));
  for (const std::optional<double>& value : row.metrics) {
    if (value)
      line.number(*value);
    else
      line.text({});
  }
  return line.text(row.message).error();
}

void Workbook::write_rows(const ReportView& report, int64_t rows_per_sheet) {
  const std::vector<std::string> columns = csv_columns(report.head());
  const int64_t count = report.row_count();
  RowView row;
  for (int64_t first = 0, part = 1; first == 0 || first < count; first += rows_per_sheet, ++part) {
    lxw_worksheet* sheet = add_table(part == 1 ? "Rows" : "Rows " + std::to_string(part), columns);
    if (sheet == nullptr) return;
    const int64_t end = std::min(count, first + rows_per_sheet);
    for (int64_t i = first; i < end; ++i) {
      report.read_row(i, row);
      check(write_row(sheet, static_cast<lxw_row_t>(i - first + 1), row, formats_.of(row.verdict)));
    }
    check(worksheet_autofilter(sheet, 0, 0, static_cast<lxw_row_t>(end - first),
                               static_cast<lxw_col_t>(columns.size() - 1)));
  }
}

void Workbook::write_diagnostics(const ReportHead& head) {
  lxw_worksheet* sheet = add_table("Diagnostics", {"severity", "code", "where", "text"});
  if (sheet == nullptr) return;
  lxw_row_t row = 1;
  for (const Diagnostic& diagnostic : head.diagnostics) {
    Line line(sheet, row++, nullptr);
    line.text(to_text(diagnostic.severity))
        .text(to_text(diagnostic.code))
        .text(diagnostic.where)
        .text(diagnostic.text);
    check(line.error());
  }
}

}  // namespace

Status write_xlsx(const ReportView& report, const std::string& path, int64_t rows_per_sheet) {
  ULPSCOPE_ASSIGN(TemporaryFile file, TemporaryFile::beside(path));
  Workbook workbook(file.path());
  if (!workbook.is_open()) return Error{Code::io, printable(path) + ": cannot be written as a workbook"};
  workbook.write_summary(report.head());
  workbook.write_rows(report, rows_per_sheet);
  workbook.write_diagnostics(report.head());
  const lxw_error error = workbook.close();
  if (error != LXW_NO_ERROR)
    return Error{Code::io, printable(path) + ": cannot be written: " + lxw_strerror(error)};
  return file.publish();
}

}  // namespace ulpscope
