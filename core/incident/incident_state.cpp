#include "incident/incident_state.hpp"

#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMostStateBytes = uint64_t{16} << 20;

}  // namespace

std::vector<IncidentStep> read_incident_state(const std::string& folder) {
  std::vector<IncidentStep> steps;
  auto file = File::open(folder + "/flow.json");
  if (!file.ok()) return steps;
  const auto text = file->read_text(kMostStateBytes);
  if (!text.ok()) return steps;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("steps") || !json["steps"].is_array()) return steps;
  const auto text_of = [](const nlohmann::json& object, const char* name) {
    const auto at = object.find(name);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  for (const auto& entry : json["steps"]) {
    if (!entry.is_object() || !entry.contains("step") || !entry["step"].is_number_integer()) continue;
    IncidentStep step;
    step.number = entry["step"].get<int>();
    step.state = text_of(entry, "state");
    step.result = text_of(entry, "result");
    step.finding = {text_of(entry, "finding"), text_of(entry, "finding_zh")};
    if (step.finding.zh.empty()) step.finding.zh = step.finding.en;
    step.inputs = text_of(entry, "inputs");
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string incident_json(const IncidentState& state) {
  std::string out = "{\"schema\": \"ulpscope.flow/1\", \"steps\": [";
  const auto add = [&](const char* name, const std::string& text) {
    out += std::string(", \"") + name + "\": ";
    append_json_string(out, text);
  };
  for (const IncidentStep& step : state.steps) {
    out += (out.ends_with("[") ? "\n {\"step\": " : ",\n {\"step\": ") + std::to_string(step.number);
    add("state", step.state);
    add("command", step.command);
    add("result", step.result);
    add("finding", step.finding.en);
    add("finding_zh", step.finding.zh);
    out += ", \"missing\": [";
    for (size_t i = 0; i < step.missing.size(); ++i) {
      if (i > 0) out += ", ";
      append_json_string(out, step.missing[i].en);
    }
    out += "]";
    add("inputs", step.inputs);
    out += "}";
  }
  return out + "],\n \"next\": " + (state.next == 0 ? "null" : std::to_string(state.next)) + "}\n";
}

}  // namespace ulpscope
