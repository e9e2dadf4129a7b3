#include "incident/incident_findings.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

using Json = nlohmann::json;

// compare_result.json of a large dump has a gigabyte of rows; its head is what matters.
constexpr uint64_t kMostBytes = uint64_t{256} << 20;

std::string text_of(const Json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || at == object.end() || at->is_null()) return {};
  return printable(at->is_string() ? at->get<std::string>()
                                   : at->dump(-1, ' ', false, Json::error_handler_t::replace));
}

const Json& member(const Json& object, const char* name) {
  static const Json kNone;
  const auto at = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && at != object.end() ? *at : kNone;
}

void anomaly_finding(const Json& json, StepFinding& found) {
  std::map<std::string, int64_t> labels;
  int64_t outputs = 0;
  for (const Json& output : member(json, "outputs")) {
    ++outputs;
    for (const Json& label : member(output, "labels"))
      if (label.is_string()) ++labels[label.get<std::string>()];
  }
  for (const auto& [label, count] : labels)
    found.text += (found.text.empty() ? "" : ", ") + printable(label) + " " + std::to_string(count);
  found.text =
      std::to_string(outputs) + " outputs: " + (found.text.empty() ? "none is labelled" : found.text);
}

void badcase_finding(const Json& json, StepFinding& found) {
  const Json& cases = member(json, "badcases");
  found.text = text_of(json, "verdict") + ", " + std::to_string(cases.size()) + " bad cases";
  if (cases.is_array() && !cases.empty()) found.text += ", best " + text_of(cases[0], "id");
}

void config_finding(const Json& json, StepFinding& found) {
  const Json& counts = member(json, "counts");
  found.text = text_of(json, "verdict") + ": error " + text_of(counts, "error") + ", warning " +
               text_of(counts, "warning");
  found.stops = text_of(json, "verdict") == "error";
}

void first_token_finding(int step, const Json& json, StepFinding& found) {
  const Json& requests = member(json, "requests");
  const Json first = requests.is_array() && !requests.empty() ? requests[0] : Json();
  const std::string status = text_of(first, "status");
  if (status.empty() || status == "same") {
    found.text = "no pair of outputs differs";
    return;
  }
  const std::string id = text_of(first, "id").empty() ? text_of(first, "golden_id") : text_of(first, "id");
  found.token = text_of(first, "position");
  found.text = (id.empty() ? "the first request" : id) + " " + status +
               (found.token.empty() ? "" : " at token " + found.token);
  if (const std::string kind = text_of(first, "kind"); !kind.empty()) found.text += ", " + kind;
  if (step != 7) return;
  const Json& steps = member(first, "dump_step");
  if (steps.is_object())
    found.text += ": step " + text_of(steps, "golden") + " of golden, step " + text_of(steps, "problem") +
                  " of problem";
}

void compare_finding(const Json& json, StepFinding& found) {
  const Json& localisation = member(json, "localisation");
  found.text = text_of(localisation, "verdict");
  const Json& culprits = member(localisation, "culprits");
  if (!culprits.is_array() || culprits.empty()) return;
  found.culprit = text_of(culprits[0], "op");
  found.text +=
      ": " + found.culprit + " " + text_of(culprits[0], "tensor") + ", " + text_of(culprits[0], "confidence");
}

}  // namespace

StepFinding finding_of(int step, const std::string& path) {
  StepFinding found;
  const auto file = File::open(path);
  if (!file.ok()) return found;
  const auto text = file->read_text(kMostBytes);
  if (!text.ok()) return found;
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return found;
  found.readable = true;
  if (step == 1) anomaly_finding(json, found);
  if (step == 2) badcase_finding(json, found);
  if (step == 3) config_finding(json, found);
  if (step == 5 || step == 7) first_token_finding(step, json, found);
  if (step == 9) compare_finding(json, found);
  return found;
}

}  // namespace ulpscope
