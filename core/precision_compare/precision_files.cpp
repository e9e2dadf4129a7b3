#include "precision_compare/precision_files.hpp"

#include <fmt/format.h>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "report/json_text.hpp"
#include "report/output_file.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";
constexpr std::string_view kResultHeader = "API Name,Forward Test Success,Backward Test Success,Message\r\n";
constexpr std::string_view kDetailsHeader =
    "API Name,小值域错误比值,小值域判定结果,均方根误差比值,均方根误差判定结果,相对误差最大值比值,"
    "相对误差最大值判定结果,相对误差平均值比值,相对误差平均值判定结果,误差均衡性比值,误差均衡性判定结果,"
    "inf/nan错误率,inf/nan判定结果,相对误差错误率,相对误差判定结果,绝对误差错误率,绝对误差判定结果,"
    "二进制一致错误率,二进制一致错误率判定结果,ULP误差平均值,ULP误差大于阈值占比,ULP误差大于阈值占比比值,"
    "ULP误差判定结果,双千指标,双千指标判定结果,比对结果,比对算法,Message\r\n";

// A cell of text, quoted where it must be; empty text is a blank in the tables of msprobe.
void append_cell(std::string& out, std::string_view cell) {
  const std::string text = valid_utf8(cell);  // a name may end within a character
  // A spreadsheet would run a name that begins like this as a formula.
  const bool formula = !text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos;
  const bool quote = text.find_first_of(",\"\r\n") != std::string_view::npos;
  if (quote) out += '"';
  if (formula) out += '\'';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  if (quote) out += '"';
}

std::string number_cell(const std::optional<double>& value) {
  if (!value) return " ";
  if (std::isnan(*value)) return "nan";
  if (std::isinf(*value)) return *value > 0 ? "inf" : "-inf";
  return fmt::format("{:.14f}", *value);
}

// The three forms in which a metric stands in the table: its ratio, the device's value, its status.
enum class Part : uint8_t { ratio, value, status };
struct Cell {
  DetailMetric metric;
  Part part;
};
using M = DetailMetric;
constexpr std::array<Cell, 24> kCells = {{{M::small_value_error_rate, Part::ratio},
                                          {M::small_value_error_rate, Part::status},
                                          {M::rmse, Part::ratio},
                                          {M::rmse, Part::status},
                                          {M::max_relative_error, Part::ratio},
                                          {M::max_relative_error, Part::status},
                                          {M::mean_relative_error, Part::ratio},
                                          {M::mean_relative_error, Part::status},
                                          {M::error_balance, Part::ratio},
                                          {M::error_balance, Part::status},
                                          {M::inf_nan_error_rate, Part::value},
                                          {M::inf_nan_error_rate, Part::status},
                                          {M::relative_error_rate, Part::value},
                                          {M::relative_error_rate, Part::status},
                                          {M::absolute_error_rate, Part::value},
                                          {M::absolute_error_rate, Part::status},
                                          {M::binary_error_rate, Part::value},
                                          {M::binary_error_rate, Part::status},
                                          {M::mean_ulp, Part::value},
                                          {M::ulp_over_threshold_rate, Part::value},
                                          {M::ulp_over_threshold_rate, Part::ratio},
                                          {M::ulp_over_threshold_rate, Part::status},
                                          {M::within_thousandth, Part::value},
                                          {M::within_thousandth, Part::status}}};

std::string cell_text(const OutputResult& output, const Cell& cell) {
  const OutputResult::Number* number = output.number(cell.metric);
  if (number == nullptr) return " ";
  switch (cell.part) {
    case Part::ratio:
      return number_cell(number->ratio);
    case Part::value:
      return number_cell(number->device);
    case Part::status:
      return std::string(to_text(number->status));
  }
  return " ";
}

void append_optional(std::string& out, const char* name, const std::optional<double>& value) {
  if (!value) return;
  out += fmt::format(",\"{}\":", name);
  append_json_number(out, *value);
}

void append_member(std::string& out, const char* name, std::string_view text) {
  out += fmt::format(",\"{}\":", name);
  append_json_string(out, text);
}

void append_output(std::string& out, const OutputResult& output) {
  out += "{\"name\":";
  append_json_string(out, output.name);
  append_member(out, "algorithm", output.algorithm);
  append_member(out, "status", to_text(output.status));
  out += ",\"metrics\":{";
  bool first = true;
  for (const OutputResult::Number& number : output.numbers) {
    out += first ? "" : ",";
    first = false;
    append_json_string(out, metric_name(number.metric));
    out += ":{\"status\":";
    append_json_string(out, number.status == OutputStatus::none ? "" : to_text(number.status));
    append_optional(out, "device", number.device);
    append_optional(out, "reference", number.reference);
    append_optional(out, "ratio", number.ratio);
    out += "}";
  }
  out += "}";
  append_member(out, "message", output.message);
  out += "}";
}

void append_api(std::string& out, const PrecisionResult& result, const ApiResult& api) {
  const auto status = [](OutputStatus s) {
    return s == OutputStatus::none ? std::string_view() : to_text(s);
  };
  out += "{\"api\":";
  append_json_string(out, api.api);
  append_member(out, "forward", status(api.forward));
  append_member(out, "backward", status(api.backward));
  append_member(out, "message", api.message);
  out += ",\"outputs\":[";
  for (size_t i = 0; i < api.outputs.size(); ++i) {
    out += i == 0 ? "" : ",\n    ";
    append_output(out, result.outputs[static_cast<size_t>(api.outputs[i])]);
  }
  out += "]}";
}

void append_list(std::string& out, const char* name, const std::vector<std::string>& texts) {
  out += fmt::format(",\n \"{}\":[", name);
  for (size_t i = 0; i < texts.size(); ++i) {
    out += i == 0 ? "" : ",";
    append_json_string(out, texts[i]);
  }
  out += "]";
}

}  // namespace

std::string_view algorithm_name(std::string_view judgement) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"benchmark", "标杆比对法"},
      {"ulp", "ULP误差比对法"},
      {"binary_consistency", "二进制一致法"},
      {"absolute_threshold", "绝对阈值法"},
      {"double_thousandth", "双千指标法"},
      {"accumulative_error", "累积误差比对法"}};
  for (const auto& [name, shown] : kNames)
    if (name == judgement) return shown;
  return judgement.empty() ? " " : judgement;
}

Status write_precision_details(const PrecisionResult& result, const std::string& path) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  file.text().append(kMark).append(kDetailsHeader);
  for (const OutputResult& output : result.outputs) {
    std::string& out = file.text();
    append_cell(out, output.name);
    for (const Cell& cell : kCells) out.append(",").append(cell_text(output, cell));
    out.append(",").append(to_text(output.status)).append(",").append(algorithm_name(output.algorithm));
    out += ",";
    append_cell(out, output.message);
    out += "\r\n";
    file.flush_when_large();
  }
  return file.commit();
}

Status write_precision_result(const PrecisionResult& result, const std::string& path) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  file.text().append(kMark).append(kResultHeader);
  for (const ApiResult& api : result.apis) {
    std::string& out = file.text();
    append_cell(out, api.api);
    out.append(",").append(to_text(api.forward)).append(",").append(to_text(api.backward)).append(",");
    append_cell(out, api.message);
    out += "\r\n";
    file.flush_when_large();
  }
  return file.commit();
}

Status write_precision_json(const PrecisionResult& result, const PrecisionRun& run, const std::string& path) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  std::string& head = file.text();
  head += "{\"schema\":\"ulpscope.precision_compare/1\"";
  append_member(head, "version", run.version);
  append_list(head, "command", run.command);
  append_member(head, "device", run.device_path);
  append_member(head, "reference", run.reference_path);
  if (!run.dump.empty()) append_member(head, "dump", run.dump);
  head += ",\n \"policy\":{\"name\":";
  append_json_string(head, run.policy_name);
  append_member(head, "hash", run.policy_hash);
  head += fmt::format(
      "}},\n \"summary\":{{\"apis\":{},\"pass\":{},\"warning\":{},\"error\":{},\"skip\":{},\"outputs\":{},"
      "\"unreadable\":{}}}",
      result.apis.size(), result.passed, result.warned, result.failed, result.skipped, result.outputs.size(),
      result.bad_data);
  append_list(head, "notices", result.notices);
  head += ",\n \"apis\":[";
  for (size_t i = 0; i < result.apis.size(); ++i) {
    file.text() += i == 0 ? "\n  " : ",\n  ";
    append_api(file.text(), result, result.apis[i]);
    file.flush_when_large();
  }
  file.text() += "]}\n";
  return file.commit();
}

}  // namespace ulpscope
