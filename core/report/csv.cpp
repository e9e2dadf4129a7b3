#include "report/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/text.hpp"
#include "report/json_text.hpp"
#include "report/output_file.hpp"
#include "report/row_writer.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
// What spreadsheets take for the start of a formula, the full-width forms included.
constexpr std::array<std::string_view, 11> kFormulaStarts = {
    "=", "+", "-", "@", "\t", "\r", "\n", "\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D", "\xEF\xBC\xA0"};

// A number, or several joined by ";" (the statistics of merged tensors).
bool is_number(std::string_view text) {
  const auto parts = split(text, ';');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    if (!part.empty() && part.back() == '%') part.remove_suffix(1);
    return parse_double(part).has_value();
  });
}

bool is_formula(std::string_view text) {
  // Every formula start is a byte below 'A' or the first of a full-width form: most texts are settled by
  // this.
  const auto first = static_cast<unsigned char>(text.front());
  if (first > '@' && first != 0xEF) return false;
  return std::any_of(kFormulaStarts.begin(), kFormulaStarts.end(),
                     [&](std::string_view start) { return text.substr(0, start.size()) == start; }) &&
         !is_number(text);
}

// Line ends and tabs are what a quoted cell may hold.
constexpr bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
}

// What a cell must be looked at for: quotes, separators, line ends, control characters, and bytes that may
// not be UTF-8.
constexpr std::array<bool, 256> special_bytes() {
  std::array<bool, 256> special = {};
  for (const unsigned char byte : {'"', ',', '\n', '\r'}) special[byte] = true;
  for (size_t byte = 0x80; byte < 256; ++byte) special[byte] = true;
  for (size_t byte = 0; byte < 0x80; ++byte) special[byte] |= is_control(static_cast<char>(byte));
  return special;
}
constexpr std::array<bool, 256> kSpecial = special_bytes();

void append_quoted(std::string& out, std::string_view text, bool formula) {
  const std::string safe = valid_utf8(text);
  const bool quote = formula || safe.find_first_of("\",\r\n") != std::string::npos;
  if (quote) out += '"';
  if (formula) out += '\'';
  for (const char c : safe) {
    if (c == '"') out += '"';
    if (is_control(c))
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  if (quote) out += '"';
}

void append_number_cell(std::string& out, int64_t value) {
  if (value >= 0) append_json_number(out, value);
  out += ',';
}

void append_text_cell(std::string& out, std::string_view text) {
  append_csv_cell(out, text);
  out += ',';
}

// The shape has commas as soon as it has two dimensions.
void append_shape_cell(std::string& out, const RowSide& side) {
  if (side.present && side.is_tensor) {
    const bool quote = side.shape.size() > 1;
    if (quote) out += '"';
    append_shape(out, side.shape);
    if (quote) out += '"';
  }
  out += ',';
}

// Numbers of a row. The two sides often recorded the same number: its text is then taken from the cell
// before.
class NumberCells {
 public:
  explicit NumberCells(std::string& out) : out_(out) {}
  void append(const std::optional<double>& value) {
    if (value) append_value(*value);
    out_ += ',';
  }

 private:
  void append_value(double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    const size_t begin = out_.size();
    if (length_ > 0 && bits == bits_)
      out_.append(out_, begin_, length_);
    else if (std::isfinite(value))
      append_finite(out_, value);
    else
      append_number(out_, value);
    bits_ = bits;
    begin_ = begin;
    length_ = out_.size() - begin;
  }

  std::string& out_;
  uint64_t bits_ = 0;
  size_t begin_ = 0, length_ = 0;  // of the last number in out_
};

void append_row(std::string& out, const RowView& row) {
  append_number_cell(out, row.step);
  append_number_cell(out, row.rank);
  for (const RowSide* side : {&row.target, &row.golden}) {
    append_text_cell(out, side->op);
    append_text_cell(out, side->item);
  }
  out.append(row.match).append(",");
  append_text_cell(out, row.target.dtype);
  append_text_cell(out, row.golden.dtype);
  append_shape_cell(out, row.target);
  append_shape_cell(out, row.golden);
  append_text_cell(out, row.judgement);
  out.append(to_text(row.judged)).append(",");
  if (row.cause != Cause::none) out += to_text(row.cause);
  out.append(",").append(to_text(row.verdict)).append(",");
  NumberCells numbers(out);
  for (const std::optional<double>& value : row.metrics) numbers.append(value);
  append_csv_cell(out, row.message);
  out += kLineEnd;
}

}  // namespace

std::vector<std::string> csv_columns(const ReportHead& head) {
  std::vector<std::string> columns = {"step",          "rank",      "op",     "tensor",       "golden_op",
                                      "golden_tensor", "match",     "dtype",  "golden_dtype", "shape",
                                      "golden_shape",  "judgement", "judged", "cause",        "verdict"};
  columns.insert(columns.end(), head.metric_names.begin(), head.metric_names.end());
  columns.emplace_back("message");
  return columns;
}

void append_csv_cell(std::string& out, std::string_view text) {
  if (text.empty()) return;
  const bool formula = is_formula(text);
  if (formula ||
      std::any_of(text.begin(), text.end(), [](char c) { return kSpecial[static_cast<unsigned char>(c)]; }))
    append_quoted(out, text, formula);
  else
    out += text;
}

void append_csv_line(std::string& out, const std::vector<std::string>& cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i != 0) out += ',';
    append_csv_cell(out, cells[i]);
  }
  out += kLineEnd;
}

Status write_csv(const ReportView& report, const std::string& path, ThreadPool* pool) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  append_csv_line(file.text(), csv_columns(report.head()));
  write_rows(
      file, report, [](std::string& out, const RowView& row, int64_t) { append_row(out, row); }, pool);
  return file.commit();
}

}  // namespace ulpscope
