#include "execute/check_json.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "report/json_text.hpp"

namespace ulpscope {
namespace {

void append_member(std::string& out, const char* name, std::string_view text) {
  out += fmt::format(",\"{}\":", name);
  append_json_string(out, text);
}

void append_list(std::string& out, const char* name, const std::vector<std::string>& texts) {
  out += fmt::format(",\n \"{}\":[", name);
  for (size_t i = 0; i < texts.size(); ++i) {
    out += i == 0 ? "" : ",";
    append_json_string(out, texts[i]);
  }
  out += "]";
}

std::string_view word(OutputStatus status) {
  return status == OutputStatus::none ? std::string_view() : to_text(status);
}

void append_output(std::string& out, const CheckOutput& output) {
  out += "{\"name\":";
  append_json_string(out, output.name);
  append_member(out, "algorithm", output.algorithm);
  append_member(out, "status", word(output.status));
  append_member(out, "golden_dtype", output.bench_dtype);
  append_member(out, "device_dtype", output.device_dtype);
  append_member(out, "shape", output.shape);
  out += ",\"metrics\":{";
  bool first = true;
  for (size_t i = 0; i < output.cells.size(); ++i) {
    if (!output.cells[i]) continue;
    out += first ? "" : ",";
    first = false;
    append_json_string(out, metric_name(static_cast<DetailMetric>(i)));
    out += ":";
    append_json_number(out, *output.cells[i]);
  }
  out += "}";
  append_member(out, "message", output.message);
  out += "}";
}

}  // namespace

void CheckSummary::add(const CheckReport& report) {
  ++apis;
  outputs += static_cast<int64_t>(report.outputs.size());
  bad_data += report.bad_data ? 1 : 0;
  switch (std::max(report.forward, report.backward)) {
    case OutputStatus::pass:
      ++passed;
      break;
    case OutputStatus::warning:
      ++warned;
      break;
    case OutputStatus::error:
      ++failed;
      break;
    default:
      ++skipped;
  }
}

Result<CheckJson> CheckJson::begin(const std::string& path, const CheckRun& run) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  CheckJson json(std::move(file));
  std::string& out = json.file_.text();
  out += "{\"schema\":\"ulpscope.check/1\"";
  append_member(out, "version", run.version);
  append_list(out, "command", run.command);
  append_member(out, "dump", run.dump);
  out += fmt::format(",\"seed\":{}", run.seed);
  out += ",\n \"policy\":{\"name\":";
  append_json_string(out, run.policy_name);
  append_member(out, "hash", run.policy_hash);
  out += "},\n \"apis\":[";
  return json;
}

void CheckJson::add(const CheckReport& report) {
  std::string& out = file_.text();
  out += first_ ? "\n  " : ",\n  ";
  first_ = false;
  out += "{\"api\":";
  append_json_string(out, report.api);
  append_member(out, "forward", word(report.forward));
  append_member(out, "backward", word(report.backward));
  append_member(out, "message", report.message);
  out += ",\"outputs\":[";
  for (size_t i = 0; i < report.outputs.size(); ++i) {
    out += i == 0 ? "" : ",\n    ";
    append_output(out, report.outputs[i]);
  }
  out += "]}";
  file_.flush_when_large();
}

Status CheckJson::finish(const CheckSummary& summary, const std::string& device,
                         const std::vector<std::string>& notices) {
  std::string& out = file_.text();
  out += fmt::format(
      "],\n \"summary\":{{\"apis\":{},\"pass\":{},\"warning\":{},\"error\":{},\"skip\":{},\"outputs\":{},"
      "\"unreadable\":{}}}",
      summary.apis, summary.passed, summary.warned, summary.failed, summary.skipped, summary.outputs,
      summary.bad_data);
  append_member(out, "device", device);
  append_list(out, "notices", notices);
  out += "}\n";
  return file_.commit();
}

}  // namespace ulpscope
