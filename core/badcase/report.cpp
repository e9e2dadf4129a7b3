#include "badcase/report.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "first_token/report.hpp"
#include "report/json_text.hpp"
#include "report/text_layout.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostKeys = 20;  // of a list in the text

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

double share_of(int64_t part, int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

template <class Texts>
void append_texts(std::string& out, const Texts& texts) {
  out += '[';
  bool first = true;
  for (const auto& text : texts) {
    if (!first) out += ", ";
    first = false;
    append_json_string(out, text);
  }
  out += ']';
}

std::string number_or_null(std::optional<int64_t> number) {
  return number ? std::to_string(*number) : "null";
}

// What to look at first: by the labels, and by where the outputs part.
std::vector<std::string> hints_of(const BadCase& bad) {
  std::vector<std::string> hints;
  const auto add = [&](std::string_view hint) {
    if (std::find(hints.begin(), hints.end(), hint) == hints.end()) hints.emplace_back(hint);
  };
  if (bad.input_mismatch) add("the inputs differ: ulpscope config-check before anything else");
  for (const SymptomHit& hit : bad.findings.hits)
    for (const std::string_view check : first_checks(hit.label)) add(check);
  if (bad.findings.labels().empty() && bad.diff.status == DiffStatus::same)
    add("the outputs are the same: the evaluations judge differently");
  if (!bad.input_mismatch && bad.diff.position)
    for (const std::string& advice : advice_of(bad.diff)) add(advice);
  if (bad.has_text && bad.findings.labels().empty() && !bad.input_mismatch)
    add("no rule of anomaly applies: read it, fluent text without overall logic is for a person to see");
  return hints;
}

std::string json_of_first_token(const BadCase& bad) {
  FirstTokenReport report;
  RequestDiff request;
  request.id = bad.key;
  request.diff = bad.diff;
  return json_of_request(request, report);
}

std::string json_of_badcase(const BadCase& bad, bool with_first_token) {
  std::string out = "{\"id\": ";
  append_json_string(out, bad.key);
  out += ", \"prompt_len\": " + number_or_null(bad.prompt_length) +
         ", \"position\": " + number_or_null(bad.diff.position);
  if (bad.diff.char_position) out += ", \"char_position\": " + std::to_string(*bad.diff.char_position);
  out += ", \"kind\": \"" + std::string(to_text(bad.diff.kind)) +
         "\", \"input_mismatch\": " + (bad.input_mismatch ? "true" : "false") + ", \"stable\": " +
         (!bad.stable   ? "null"
          : *bad.stable ? "true"
                        : "false") +
         ", \"labels\": ";
  append_texts(out, bad.findings.labels());
  out += ", \"hints\": ";
  append_texts(out, hints_of(bad));
  if (with_first_token) out += ", \"first_token\": " + json_of_first_token(bad);
  return out + "}";
}

std::string percent(int64_t part, int64_t all) {
  return number_text(std::round(share_of(part, all) * 1000) / 10) + " %";
}

std::string verdict_text(const BadcaseReport& report) {
  const std::string p = "exact McNemar p = " + number_text(std::round(report.p * 1e4) / 1e4);
  const std::string_view verdict = report.verdict();
  if (verdict == "regression") return "REGRESSION  " + p + "\n";
  if (verdict == "improvement") return "IMPROVEMENT  " + p + "\n";
  std::string text = "not significant  " + p;
  if (report.b > report.c) {
    text += ": this drop may be chance";
    if (report.needed) text += "; at these rates " + count_text(*report.needed) + " samples would show it";
  }
  return text + "\n";
}

std::string key_list(const char* title, const std::vector<std::string>& keys) {
  if (keys.empty()) return {};
  std::string text = std::string(title) + " " + count_text(static_cast<int64_t>(keys.size())) + ":";
  for (size_t i = 0; i < keys.size() && i < kMostKeys; ++i) text += " " + printable(keys[i]);
  return text + (keys.size() > kMostKeys ? " …" : "") + "\n";
}

std::string cell(std::string text, size_t width) {
  const auto shown = static_cast<size_t>(display_width(text));
  return text + std::string(shown < width ? width - shown : 1, ' ');
}

std::string row_text(const BadCase& bad, size_t key_width, bool with_first_token) {
  std::string labels;
  for (const std::string_view label : bad.findings.labels())
    labels += (labels.empty() ? "" : ", ") + std::string(label);
  if (bad.input_mismatch) labels = "input_mismatch" + (labels.empty() ? "" : ", " + labels);
  std::string kind(to_text(bad.diff.kind));
  std::replace(kind.begin(), kind.end(), '_', ' ');
  const auto number = [](std::optional<int64_t> value) { return value ? std::to_string(*value) : "-"; };
  std::string line = cell(printable(bad.key), key_width + 2) + cell(number(bad.prompt_length), 8) +
                     cell(number(bad.diff.position), 7) + cell(kind, 10) +
                     cell(!bad.stable   ? "-"
                          : *bad.stable ? "yes"
                                        : "no",
                          8) +
                     labels;
  line.erase(line.find_last_not_of(' ') + 1);
  line += "\n";
  if (!with_first_token) return line;
  for (const std::string& hint : hints_of(bad)) line += "    " + hint + "\n";
  return line;
}

}  // namespace

std::string json_of(const BadcaseReport& report, bool with_first_token) {
  std::string out =
      "{\n  \"schema\": \"ulpscope.badcase/1\",\n  \"paired\": " + std::to_string(report.paired) +
      ",\n  \"unjudged\": " + std::to_string(report.unjudged) + ",\n  \"only_golden\": ";
  append_texts(out, report.only_golden);
  out += ",\n  \"only_problem\": ";
  append_texts(out, report.only_problem);
  out += ",\n  \"golden_accuracy\": ";
  append_json_number(out, rounded(share_of(report.golden_right, report.paired)));
  out += ",\n  \"problem_accuracy\": ";
  append_json_number(out, rounded(share_of(report.problem_right, report.paired)));
  out += ",\n  \"b_golden_right_problem_wrong\": " + std::to_string(report.b) +
         ",\n  \"c_golden_wrong_problem_right\": " + std::to_string(report.c) +
         ",\n  \"both_wrong\": " + std::to_string(report.both_wrong) + ",\n  \"mcnemar_p\": ";
  append_json_number(out, report.p);
  out += ",\n  \"verdict\": \"" + std::string(report.verdict()) +
         "\",\n  \"samples_needed\": " + number_or_null(report.needed) + ",\n  \"badcases\": [";
  for (size_t i = 0; i < report.badcases.size(); ++i)
    out += (i > 0 ? ",\n    " : "\n    ") + json_of_badcase(report.badcases[i], with_first_token);
  out += report.badcases.empty() ? "]" : "\n  ]";
  out += ",\n  \"fixed\": ";
  append_texts(out, report.fixed);
  return out + "\n}\n";
}

std::string text_of(const BadcaseReport& report, bool with_first_token) {
  std::string out = count_text(report.paired) + " paired · " +
                    count_text(static_cast<int64_t>(report.only_golden.size())) + " only in golden · " +
                    count_text(static_cast<int64_t>(report.only_problem.size())) + " only in problem\n" +
                    "right: golden " + percent(report.golden_right, report.paired) + ", problem " +
                    percent(report.problem_right, report.paired) + " · golden alone " + count_text(report.b) +
                    ", problem alone " + count_text(report.c) + ", neither " + count_text(report.both_wrong) +
                    "\n" + verdict_text(report) + "\n";
  if (!report.badcases.empty()) {
    size_t width = 3;
    for (const BadCase& bad : report.badcases)
      width = std::max(width, static_cast<size_t>(display_width(printable(bad.key))));
    out += cell("bad case", std::max<size_t>(width, 8) + 2) + "prompt  token  kind      stable  labels\n";
    for (const BadCase& bad : report.badcases)
      out += row_text(bad, std::max<size_t>(width, 8), with_first_token);
    const auto left = report.b - static_cast<int64_t>(report.badcases.size());
    if (left > 0) out += "and " + count_text(left) + " more\n";
    out += "\n";
    const BadCase& best = report.badcases.front();
    out += "take " + printable(best.key) + ":\n";
    for (const std::string& hint : hints_of(best)) out += "    " + hint + "\n";
    out += "\n";
  }
  out += key_list("fixed", report.fixed) + key_list("only in golden", report.only_golden) +
         key_list("only in problem", report.only_problem);
  return out;
}

}  // namespace ulpscope
