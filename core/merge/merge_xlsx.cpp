#include <xlsxwriter.h>

#include <cmath>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "merge/merge_files.hpp"
#include "report/output_file.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMaxCellUnits = 32'767;  // of UTF-16, the limit of the format
constexpr size_t kMaxSheetName = 31;
constexpr size_t kRowsPerSheet = 1'048'500;
constexpr lxw_col_t kFirstValueColumn = 3;
constexpr uint16_t kNameWidth = 40, kValueWidth = 14;
// The colours of compare_result.xlsx.
constexpr lxw_color_t kFailColour = 0xFF704D, kWarningColour = 0xFFDC7F, kSkipColour = 0xC7C7C7;

// A character of n bytes has at most n units: cutting by bytes is enough.
std::string cell_text(std::string_view text) {
  std::string safe = valid_utf8(text);
  if (safe.size() <= kMaxCellUnits) return safe;
  size_t end = kMaxCellUnits;
  while (end > 0 && (static_cast<unsigned char>(safe[end]) & 0xC0) == 0x80) --end;
  return safe.substr(0, end);
}

class MergeWorkbook {
 public:
  MergeWorkbook(const MergeTable& table, const std::string& path) : table_(table) {
    lxw_workbook_options options = {};
    options.constant_memory = LXW_TRUE;
    workbook_ = workbook_new_opt(path.c_str(), &options);
    if (workbook_ == nullptr) return;
    fail_ = filled(kFailColour);
    warning_ = filled(kWarningColour);
    skip_ = filled(kSkipColour);
  }
  MergeWorkbook(const MergeWorkbook&) = delete;
  MergeWorkbook& operator=(const MergeWorkbook&) = delete;
  ~MergeWorkbook() {
    if (workbook_ != nullptr) workbook_close(workbook_);
  }

  bool is_open() const { return workbook_ != nullptr; }

  void write() {
    if (table_.has_verdict())
      write_sheets("verdict", [&](lxw_worksheet* sheet, lxw_row_t line, size_t row) {
        for (size_t c = 0; c < table_.columns().size(); ++c) {
          const auto verdict = table_.columns()[c].verdict(row);
          if (!verdict) continue;
          lxw_format* format = *verdict == Verdict::fail      ? fail_
                               : *verdict == Verdict::warning ? warning_
                               : *verdict == Verdict::skip    ? skip_
                                                              : nullptr;
          put_text(sheet, line, value_column(c), to_text(*verdict), format);
        }
      });
    for (size_t metric = 0; metric < table_.metrics().size(); ++metric)
      write_sheets(table_.metrics()[metric], [&](lxw_worksheet* sheet, lxw_row_t line, size_t row) {
        for (size_t c = 0; c < table_.columns().size(); ++c)
          if (const auto value = table_.columns()[c].value(metric, row))
            put_number(sheet, line, value_column(c), *value);
      });
  }

  // Packs and closes the file; the first error of all.
  lxw_error close() {
    const lxw_error error = workbook_close(std::exchange(workbook_, nullptr));
    return error_ == LXW_NO_ERROR ? error : error_;
  }

 private:
  static lxw_col_t value_column(size_t column) { return static_cast<lxw_col_t>(kFirstValueColumn + column); }

  lxw_format* filled(lxw_color_t colour) {
    lxw_format* format = workbook_add_format(workbook_);
    format_set_pattern(format, LXW_PATTERN_SOLID);
    format_set_bg_color(format, colour);
    return format;
  }

  void keep(lxw_error error) {
    if (error_ == LXW_NO_ERROR) error_ = error;
  }
  void put_text(lxw_worksheet* sheet, lxw_row_t line, lxw_col_t column, std::string_view text,
                lxw_format* format = nullptr) {
    if (!text.empty()) keep(worksheet_write_string(sheet, line, column, cell_text(text).c_str(), format));
  }
  void put_number(lxw_worksheet* sheet, lxw_row_t line, lxw_col_t column, double value) {
    if (std::isfinite(value))
      keep(worksheet_write_number(sheet, line, column, value, nullptr));
    else
      put_text(sheet, line, column, number_text(value));
  }

  // A name that a sheet may have: 31 characters, none of []:*?/\, none twice (case does not count).
  std::string sheet_name(const std::string& wanted) {
    std::string name;
    for (const char c : wanted)
      name += std::string_view("[]:*?/\\'").find(c) == std::string_view::npos ? c : '_';
    name = name.substr(0, kMaxSheetName);
    for (int number = 2; !names_.insert(to_lower(name)).second; ++number) {
      const std::string end = " " + std::to_string(number);
      name = name.substr(0, kMaxSheetName - end.size()) + end;
    }
    return name;
  }

  lxw_worksheet* start_sheet(const std::string& metric) {
    lxw_worksheet* sheet = workbook_add_worksheet(workbook_, sheet_name(metric).c_str());
    if (sheet == nullptr) {
      keep(LXW_ERROR_MEMORY_MALLOC_FAILED);
      return nullptr;
    }
    worksheet_set_column(sheet, 1, 1, kNameWidth, nullptr);
    worksheet_set_column(sheet, 2, value_column(table_.columns().size()), kValueWidth, nullptr);
    worksheet_freeze_panes(sheet, 1, kFirstValueColumn);
    const std::string_view heads[] = {"step", "op", "tensor"};
    for (lxw_col_t c = 0; c < kFirstValueColumn; ++c) put_text(sheet, 0, c, heads[c]);
    for (size_t c = 0; c < table_.columns().size(); ++c)
      put_text(sheet, 0, value_column(c), table_.columns()[c].label);
    return sheet;
  }

  template <class PutValues>
  void write_sheets(const std::string& metric, PutValues put_values) {
    for (size_t first = 0; first == 0 || first < table_.rows().size(); first += kRowsPerSheet) {
      lxw_worksheet* sheet = start_sheet(metric);
      if (sheet == nullptr) return;
      for (size_t row = first; row < table_.rows().size() && row < first + kRowsPerSheet; ++row) {
        const auto line = static_cast<lxw_row_t>(row - first + 1);
        const MergeRow& named = table_.rows()[row];
        if (named.step >= 0) put_number(sheet, line, 0, named.step);
        put_text(sheet, line, 1, named.op);
        put_text(sheet, line, 2, named.item);
        put_values(sheet, line, row);
      }
    }
  }

  const MergeTable& table_;
  lxw_workbook* workbook_ = nullptr;
  lxw_format *fail_ = nullptr, *warning_ = nullptr, *skip_ = nullptr;
  std::set<std::string> names_;
  lxw_error error_ = LXW_NO_ERROR;
};

}  // namespace

Status write_merge_xlsx(const MergeTable& table, const std::string& path) {
  ULPSCOPE_ASSIGN(TemporaryFile file, TemporaryFile::beside(path));
  MergeWorkbook workbook(table, file.path());
  if (!workbook.is_open()) return Error{Code::io, printable(path) + ": cannot be created"};
  workbook.write();
  if (const lxw_error error = workbook.close(); error != LXW_NO_ERROR)
    return Error{Code::io, printable(path) + ": " + lxw_strerror(error)};
  return file.publish();
}

}  // namespace ulpscope
