#include "config_check/config_report.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kHashDigits = 64, kShownDigits = 12;

std::string csv_cell(std::string text) {
  // A spreadsheet would read such a cell as a formula.
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos)
    text = "'" + text;
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string full_text(const ConfigValue& value) {
  if (value.is_null()) return {};
  return value.is_text() ? value.text : config_json(value);
}

}  // namespace

std::string config_check_json(const ConfigCheckResult& result) {
  std::string out = "{\"schema\": \"ulpscope.config_check/1\", \"verdict\": \"" + result.verdict() +
                    "\",\n \"counts\": {\"error\": " + std::to_string(result.counts[0]) +
                    ", \"warning\": " + std::to_string(result.counts[1]) +
                    ", \"info\": " + std::to_string(result.counts[2]) + "},\n \"differences\": [";
  bool first = true;
  for (const ConfigRow& row : result.rows) {
    out += first ? "\n  {\"section\": " : ",\n  {\"section\": ";
    first = false;
    append_json_string(out, row.section);
    out += ", \"key\": ";
    append_json_string(out, row.key);
    out += ", \"golden\": " + config_json(row.golden) + ", \"problem\": " + config_json(row.problem) +
           ", \"severity\": \"" + std::string(to_text(row.severity)) + "\", \"why\": ";
    append_json_string(out, row.why);
    out += "}";
  }
  return out + "]}\n";
}

std::string config_check_csv(const ConfigCheckResult& result) {
  std::string out = "section,key,golden,problem,severity,why\r\n";
  for (const ConfigRow& row : result.rows)
    out += csv_cell(row.section) + "," + csv_cell(row.key) + "," + csv_cell(full_text(row.golden)) + "," +
           csv_cell(full_text(row.problem)) + "," + std::string(to_text(row.severity)) + "," +
           csv_cell(row.why) + "\r\n";
  return valid_utf8(out);
}

std::string config_check_markdown(const ConfigCheckResult& result) {
  std::string out = "| severity | section | key | golden | problem | why |\n|---|---|---|---|---|---|\n";
  for (const ConfigRow& row : result.rows)
    out += "| " + std::string(to_text(row.severity)) + " | " + row.section + " | " + markdown_cell(row.key) +
           " | " + markdown_cell(config_cell(row.golden)) + " | " + markdown_cell(config_cell(row.problem)) +
           " | " + markdown_cell(row.why) + " |\n";
  return out;
}

std::string config_cell(const ConfigValue& value) {
  if (value.is_null()) return "-";
  std::string text = full_text(value);
  const bool is_hash =
      text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hash ? text.substr(0, kShownDigits) + "…" : text;
}

}  // namespace ulpscope
