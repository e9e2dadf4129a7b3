#include "execute/check_report.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace ulpscope {
namespace {

using nlohmann::json;

json to_json(const CheckOutput& output) {
  json cells = json::array();
  for (const auto& cell : output.cells) cells.push_back(cell ? json(fmt::format("{:.17g}", *cell)) : json());
  return {{"name", output.name},
          {"bench", output.bench_dtype},
          {"device", output.device_dtype},
          {"shape", output.shape},
          {"cells", cells},
          {"algorithm", output.algorithm},
          {"status", to_text(output.status)},
          {"message", output.message}};
}

CheckOutput output_from(const json& node) {
  CheckOutput output;
  output.name = node.at("name").get<std::string>();
  output.bench_dtype = node.at("bench").get<std::string>();
  output.device_dtype = node.at("device").get<std::string>();
  output.shape = node.at("shape").get<std::string>();
  output.algorithm = node.at("algorithm").get<std::string>();
  output.status = output_status(node.at("status").get<std::string>());
  output.message = node.at("message").get<std::string>();
  const json& cells = node.at("cells");
  for (size_t i = 0; i < output.cells.size(); ++i)
    if (cells.at(i).is_string()) output.cells[i] = parse_double(cells.at(i).get<std::string>());
  return output;
}

}  // namespace

OutputStatus roll_up(const std::vector<CheckOutput>& outputs) {
  OutputStatus worst = OutputStatus::none;
  for (const CheckOutput& output : outputs) worst = std::max(worst, output.status);
  return worst;
}

OutputStatus output_status(std::string_view word) {
  for (const OutputStatus status :
       {OutputStatus::skip, OutputStatus::pass, OutputStatus::warning, OutputStatus::error})
    if (to_text(status) == word) return status;
  return OutputStatus::none;
}

void add_sentence(std::string& message, std::string_view text) {
  if (text.empty() || message == text) return;
  if (!message.empty()) message += "; ";
  message += text;
}

std::string to_line(const CheckReport& report) {
  json outputs = json::array();
  for (const CheckOutput& output : report.outputs) outputs.push_back(to_json(output));
  const json line = {{"api", report.api},
                     {"forward", to_text(report.forward)},
                     {"backward", to_text(report.backward)},
                     {"message", report.message},
                     {"bad_data", report.bad_data},
                     {"outputs", outputs}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<CheckReport> report_from_line(std::string_view line) {
  const json node = json::parse(line, nullptr, false);
  try {
    CheckReport report;
    report.api = node.at("api").get<std::string>();
    report.forward = output_status(node.at("forward").get<std::string>());
    report.backward = output_status(node.at("backward").get<std::string>());
    report.message = node.at("message").get<std::string>();
    report.bad_data = node.at("bad_data").get<bool>();
    for (const json& output : node.at("outputs")) report.outputs.push_back(output_from(output));
    return report;
  } catch (const json::exception&) {
    return Error{Code::format, "a worker answered with something that is no report: '" +
                                   printable(line.substr(0, 80)) + "'"};
  }
}

}  // namespace ulpscope
