#include "merge/merge_files.hpp"

#include "base/text.hpp"
#include "report/csv.hpp"
#include "report/json_text.hpp"
#include "report/output_file.hpp"

namespace ulpscope {
namespace {

void append_strings(std::string& out, const std::vector<std::string>& texts) {
  out += "[";
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_string(out, texts[i]);
  }
  out += "]";
}

void append_columns(std::string& out, const MergeTable& table) {
  out += ",\n  \"columns\": [";
  for (size_t i = 0; i < table.columns().size(); ++i) {
    const MergeColumn& column = table.columns()[i];
    out += i == 0 ? "\n    {\"label\": " : ",\n    {\"label\": ";
    append_json_string(out, column.label);
    out += ", \"rank\": " + (column.rank < 0 ? std::string("null") : std::to_string(column.rank)) +
           ", \"path\": ";
    append_json_string(out, column.path);
    out += "}";
  }
  out += "]";
}

void append_row(std::string& out, const MergeTable& table, size_t row) {
  const MergeRow& named = table.rows()[row];
  out +=
      "    {\"step\": " + (named.step < 0 ? std::string("null") : std::to_string(named.step)) + ", \"op\": ";
  append_json_string(out, named.op);
  out += ", \"tensor\": ";
  append_json_string(out, named.item);
  const auto& columns = table.columns();
  if (table.has_verdict()) {
    out += ", \"verdict\": [";
    for (size_t c = 0; c < columns.size(); ++c) {
      const auto verdict = columns[c].verdict(row);
      out += c == 0 ? "" : ", ";
      out += verdict ? "\"" + std::string(to_text(*verdict)) + "\"" : std::string("null");
    }
    out += "]";
  }
  for (size_t metric = 0; metric < table.metrics().size(); ++metric) {
    out += ", ";
    append_json_string(out, table.metrics()[metric]);
    out += ": [";
    for (size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) out += ", ";
      if (const auto value = columns[c].value(metric, row))
        append_json_number(out, *value);
      else
        out += "null";
    }
    out += "]";
  }
  out += "}";
}

}  // namespace

Status write_merge_json(const MergeTable& table, std::string_view version,
                        const std::vector<std::string>& command, const std::string& path) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  std::string& out = file.text();
  out += "{\n  \"schema\": \"ulpscope.merge/1\",\n  \"version\": ";
  append_json_string(out, version);
  out += ",\n  \"command\": ";
  append_strings(out, command);
  append_columns(out, table);
  out += ",\n  \"metrics\": ";
  std::vector<std::string> metrics = table.metrics();
  if (table.has_verdict()) metrics.insert(metrics.begin(), "verdict");
  append_strings(out, metrics);
  out += ",\n  \"rows\": [\n";
  for (size_t row = 0; row < table.rows().size(); ++row) {
    append_row(out, table, row);
    out += row + 1 < table.rows().size() ? ",\n" : "\n";
    file.flush_when_large();
  }
  out += "  ]\n}\n";
  return file.commit();
}

Status write_merge_csv(const MergeTable& table, const std::string& path) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  std::vector<std::string> cells = {"step", "op", "tensor", "metric"};
  for (const MergeColumn& column : table.columns()) cells.push_back(column.label);
  append_csv_line(file.text(), cells);
  for (size_t row = 0; row < table.rows().size(); ++row) {
    const MergeRow& named = table.rows()[row];
    const auto start = [&](const std::string& metric) {
      cells = {named.step < 0 ? std::string() : std::to_string(named.step), named.op, named.item, metric};
    };
    if (table.has_verdict()) {
      start("verdict");
      for (const MergeColumn& column : table.columns()) {
        const auto verdict = column.verdict(row);
        cells.push_back(verdict ? std::string(to_text(*verdict)) : std::string());
      }
      append_csv_line(file.text(), cells);
    }
    for (size_t metric = 0; metric < table.metrics().size(); ++metric) {
      start(table.metrics()[metric]);
      for (const MergeColumn& column : table.columns()) {
        const auto value = column.value(metric, row);
        cells.push_back(value ? number_text(*value) : std::string());
      }
      append_csv_line(file.text(), cells);
    }
    file.flush_when_large();
  }
  return file.commit();
}

}  // namespace ulpscope
