#include "anomaly/report.hpp"

#include <cmath>

#include "base/text.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

double rounded(double value) { return std::isfinite(value) ? std::round(value * 1e6) / 1e6 : value; }

void append_words(std::string& out, const std::vector<std::string_view>& words) {
  out += '[';
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_string(out, words[i]);
  }
  out += ']';
}

std::string_view word_of(Unit unit) {
  return unit == Unit::token ? "token" : unit == Unit::code_point ? "code_point" : "output";
}

void append_hit(std::string& out, const SymptomHit& hit) {
  out += "{\"label\": ";
  append_json_string(out, to_text(hit.label));
  out += ", \"rule\": ";
  append_json_string(out, hit.rule);
  out += ", \"where\": ";
  if (hit.unit == Unit::output) {
    out += "null";
  } else {
    out += "{";
    append_json_string(out, word_of(hit.unit));
    out += ": " + std::to_string(hit.at) + "}";
  }
  out += ", \"values\": {";
  for (size_t i = 0; i < hit.values.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_string(out, hit.values[i].first);
    out += ": ";
    append_json_number(out, rounded(hit.values[i].second));
  }
  out += "}}";
}

void append_output(std::string& out, const InspectedOutput& output) {
  out += "{\"id\": ";
  append_json_string(out, output.id);
  out += ", \"index\": " + std::to_string(output.choice) + ", \"labels\": ";
  append_words(out, output.findings.labels());
  out += ", \"info\": ";
  append_words(out, output.findings.info());
  out += ", \"hits\": [";
  for (size_t i = 0; i < output.findings.hits.size(); ++i) {
    if (i > 0) out += ", ";
    append_hit(out, output.findings.hits[i]);
  }
  out += "]}";
}

void append_repeats(std::string& out, const std::vector<PromptRepeats>& repeats) {
  out += ",\n  \"repeats\": {";
  for (size_t i = 0; i < repeats.size(); ++i) {
    const PromptRepeats& each = repeats[i];
    out += i > 0 ? ",\n    " : "\n    ";
    append_json_string(out, each.prompt);
    out += ": {\"runs\": " + std::to_string(each.runs) + ", \"distinct\": " + std::to_string(each.distinct) +
           ", \"label\": " + (each.is_inconsistent() ? "\"inconsistent\"" : "null") +
           ", \"info\": " + (each.distinct > 1 && !each.greedy ? "[\"inconsistent\"]" : "[]") +
           ", \"first_divergence\": " +
           (each.first_divergence ? std::to_string(*each.first_divergence) : "null") + "}";
  }
  out += repeats.empty() ? "}" : "\n  }";
}

std::string value_text(const SymptomHit& hit) {
  std::string text;
  for (const auto& [name, value] : hit.values) {
    std::string word(name);
    for (char& c : word)
      if (c == '_') c = ' ';
    text += (text.empty() ? "" : ", ") + word + " " +
            number_text(std::isfinite(value) ? std::round(value * 1e3) / 1e3 : value);
  }
  return text;
}

std::string hit_line(const SymptomHit& hit) {
  std::string rule(hit.rule);
  for (char& c : rule)
    if (c == '_') c = ' ';
  std::string line =
      "    " + std::string(to_text(hit.label)) + (is_info(hit.label) ? " (info)" : "") + "  by " + rule;
  if (hit.unit == Unit::token) line += ", from token " + std::to_string(hit.at) + " on";
  if (hit.unit == Unit::code_point) line += ", from character " + std::to_string(hit.at) + " on";
  const std::string values = value_text(hit);
  return line + (values.empty() ? "" : ": " + values) + "\n";
}

std::string repeats_text(const std::vector<PromptRepeats>& repeats) {
  std::string out;
  for (const PromptRepeats& each : repeats) {
    if (each.distinct <= 1) continue;
    out += std::string(each.greedy ? "INCONSISTENT" : "sampled") + "  \"" + printable(each.prompt) + "\"   " +
           count_text(each.distinct) + " outputs in " + count_text(each.runs) + " runs";
    if (each.first_divergence) out += ", from token " + count_text(*each.first_divergence) + " on";
    out += "\n";
  }
  return out.empty() ? "every prompt gave one output\n\n" : out + "\n";
}

}  // namespace

std::string json_of(const AnomalyReport& report) {
  std::string out = "{\n  \"schema\": \"ulpscope.anomaly/1\",\n  \"outputs\": [";
  for (size_t i = 0; i < report.outputs.size(); ++i) {
    out += i > 0 ? ",\n    " : "\n    ";
    append_output(out, report.outputs[i]);
  }
  out += report.outputs.empty() ? "]" : "\n  ]";
  if (report.has_repeats) append_repeats(out, report.repeats);
  out += ",\n  \"summary\": {\"outputs\": " + std::to_string(report.outputs.size()) +
         ", \"anomalous\": " + std::to_string(report.anomalous()) + ", \"by_label\": {";
  bool first = true;
  std::string checks;
  for (size_t i = 0; i < kSymptoms; ++i) {
    if (report.counts[i] == 0) continue;
    const auto symptom = static_cast<Symptom>(i);
    out += first ? "" : ", ";
    first = false;
    append_json_string(out, to_text(symptom));
    out += ": " + std::to_string(report.counts[i]);
    const auto list = first_checks(symptom);
    if (list.empty()) continue;
    checks += checks.empty() ? "" : ", ";
    append_json_string(checks, to_text(symptom));
    checks += ": ";
    append_words(checks, list);
  }
  return out + "}},\n  \"look_here_first\": {" + checks + "}\n}\n";
}

std::string text_of(const AnomalyReport& report, size_t most_outputs) {
  std::string out = count_text(static_cast<int64_t>(report.outputs.size())) +
                    (report.outputs.size() == 1 ? " output" : " outputs") + " · " +
                    count_text(report.anomalous()) + " anomalous\n\n";
  size_t shown = 0, left = 0;
  for (const InspectedOutput& output : report.outputs) {
    if (!output.findings.is_anomalous() && output.findings.info().empty()) continue;
    if (shown == most_outputs) {
      ++left;
      continue;
    }
    ++shown;
    out +=
        printable(output.id) + (output.choice > 0 ? " choice " + std::to_string(output.choice) : "") + "\n";
    for (const SymptomHit& hit : output.findings.hits) out += hit_line(hit);
  }
  if (left > 0) out += "and " + count_text(static_cast<int64_t>(left)) + " more with labels\n";
  if (shown > 0) out += "\n";
  if (report.has_repeats) out += repeats_text(report.repeats);
  std::string counts, checks;
  for (size_t i = 0; i < kSymptoms; ++i) {
    if (report.counts[i] == 0) continue;
    const auto symptom = static_cast<Symptom>(i);
    counts +=
        (counts.empty() ? "" : "   ") + std::string(to_text(symptom)) + " " + count_text(report.counts[i]);
    for (const std::string_view check : first_checks(symptom))
      checks += "    " + std::string(to_text(symptom)) + ": " + std::string(check) + "\n";
  }
  if (!checks.empty()) out += "look here first\n" + checks + "\n";
  return out + (counts.empty() ? "nothing found" : counts) + "\n";
}

}  // namespace ulpscope
