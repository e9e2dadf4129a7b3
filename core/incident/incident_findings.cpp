#include "incident/incident_findings.hpp"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "base/file.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

using Json = nlohmann::json;

constexpr int kCompare = 9;
constexpr uint64_t kMostBytes = uint64_t{1} << 30;
// What compare found stands before its rows, of which there may be gigabytes.
constexpr uint64_t kMostHeadBytes = uint64_t{64} << 20;

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

// A word of a result in Chinese; one without a translation as it is.
std::string chinese_word(const std::string& word) {
  static const std::map<std::string_view, std::string_view> kWords = {
      {"pass", "通过"},
      {"incomplete", "不完整"},
      {"error", "错误"},
      {"warning", "警告"},
      {"info", "提示"},
      {"regression", "退化"},
      {"improvement", "改善"},
      {"not_significant", "差异不显著"},
      {"diverged", "出现分歧"},
      {"length", "长度不同"},
      {"input_mismatch", "输入不一致"},
      {"not_comparable", "无法比较"},
      {"empty", "无输出"},
      {"hard", "确定差异"},
      {"soft", "一般差异"},
      {"near_tie", "近似并列"},
      {"compute_fault", "计算错误"},
      {"input_fault", "输入错误"},
      {"identical", "完全一致"},
      {"rounding", "仅舍入差异"},
      {"structure_only", "仅结构不同"},
      {"inconclusive", "无法定论"},
      {"certain", "确定"},
      {"strong", "较强"},
      {"weak", "较弱"},
      {"both sides are off", "两侧均有误差"},
      {"neither side is off", "两侧均无误差"},
      {"neither side is off: each computed its own inputs right, they differ from before",
       "两侧均无误差：各自对自身输入计算正确，输入在此之前已不同"},
      {"it is not known whether a side is off", "无法判断哪侧有误差"},
  };
  const auto at = kWords.find(word);
  return at == kWords.end() ? word : std::string(at->second);
}

// The object of text without the elements of its array `name`, each of which visit gets instead: a file of a
// hundred thousand requests never stands in memory as JSON.
Json without_elements(const std::string& text, std::string_view name,
                      const std::function<void(const Json&)>& visit) {
  bool inside = false;
  const auto callback = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) inside = parsed == name;
    if (!inside || depth != 2 || event != Json::parse_event_t::object_end) return true;
    visit(parsed);
    return false;
  };
  return Json::parse(text, callback, false);
}

// The value of a member of the object that head begins, whole or cut off behind it; empty: not there.
std::string_view member_in_head(std::string_view head, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\"";
  size_t depth = 0, begin = 0;
  bool is_key = false;
  for (size_t at = 0; at < head.size(); ++at) {
    const char c = head[at];
    if (begin > 0 && depth == 1 && (c == ',' || c == '}')) return head.substr(begin, at - begin);
    if (c == '"') {
      size_t end = at + 1;
      while (end < head.size() && head[end] != '"') end += head[end] == '\\' ? 2 : 1;
      is_key = depth == 1 && begin == 0 && head.substr(at, end + 1 - at) == key;
      at = end;
    } else if (c == ':') {
      if (is_key) begin = at + 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return {};
}

Json anomaly_finding(const std::string& text, StepFinding& found) {
  std::map<std::string, int64_t> labels;
  int64_t outputs = 0;
  Json json = without_elements(text, "outputs", [&](const Json& output) {
    ++outputs;
    for (const Json& label : member(output, "labels"))
      if (label.is_string()) ++labels[label.get<std::string>()];
  });
  std::string list;
  for (const auto& [label, count] : labels)
    list += (list.empty() ? "" : ", ") + printable(label) + " " + std::to_string(count);
  found.text = {std::to_string(outputs) + " outputs: " + (list.empty() ? "none is labelled" : list),
                std::to_string(outputs) + " 个输出：" + (list.empty() ? "均无标签" : list)};
  return json;
}

Json badcase_finding(const std::string& text, StepFinding& found) {
  int64_t cases = 0;
  std::string best;
  Json json = without_elements(text, "badcases", [&](const Json& badcase) {
    if (++cases == 1) best = text_of(badcase, "id");
  });
  const std::string verdict = text_of(json, "verdict");
  found.text = {
      verdict + ", " + std::to_string(cases) + " bad cases" + (best.empty() ? "" : ", best " + best),
      chinese_word(verdict) + "，" + std::to_string(cases) + " 个坏例" +
          (best.empty() ? "" : "，首选 " + best)};
  return json;
}

Json config_finding(const std::string& text, StepFinding& found) {
  Json json = Json::parse(text, nullptr, false);
  const Json& counts = member(json, "counts");
  const std::string verdict = text_of(json, "verdict"), errors = text_of(counts, "error"),
                    warnings = text_of(counts, "warning");
  found.text = {verdict + ": error " + errors + ", warning " + warnings,
                chinese_word(verdict) + "：错误 " + errors + "，警告 " + warnings};
  found.stops = verdict == "error";
  return json;
}

// What a reader does about the first difference that there is; empty: the next steps.
BothLanguages advice_of(const Json& request, const std::string& status, const std::string& kind) {
  const Json& cut = member(request, "truncated_by_max_tokens");
  if (kind == "near_tie") return {" (normal rounding: choose another case)", "（正常舍入：请换一个用例）"};
  if (status == "input_mismatch")
    return {" (align the prompts first, then compare again)", "（请先对齐输入再比较）"};
  if (cut.is_boolean() && cut.get<bool>())
    return {" (only cut off by max_tokens, no numeric difference)", "（仅被 max_tokens 截断，无数值差异）"};
  return {};
}

Json first_token_finding(int step, const std::string& text, StepFinding& found) {
  Json first;
  Json json = without_elements(text, "requests", [&](const Json& request) {
    if (first.is_null()) first = request;
  });
  const std::string status = text_of(first, "status");
  if (status.empty() || status == "same") {
    found.text = {"no pair of outputs differs", "没有不同的输出对"};
    return json;
  }
  const std::string id = text_of(first, "id").empty() ? text_of(first, "golden_id") : text_of(first, "id");
  found.token = text_of(first, "position");
  found.text = {(id.empty() ? "the first request" : id) + " " + status +
                    (found.token.empty() ? "" : " at token " + found.token),
                (id.empty() ? "第一个请求" : id) + " " + chinese_word(status) +
                    (found.token.empty() ? "" : "，token " + found.token)};
  const std::string kind = text_of(first, "kind");
  const BothLanguages advice = advice_of(first, status, kind);
  found.text.en += (kind.empty() ? "" : ", " + kind) + advice.en;
  found.text.zh += (kind.empty() ? "" : "，" + chinese_word(kind)) + advice.zh;
  if (step != 7) return json;
  const Json& steps = member(first, "dump_step");
  found.golden_step = text_of(steps, "golden");
  found.problem_step = text_of(steps, "problem");
  if (steps.is_object()) {
    const bool in_golden = !found.golden_step.empty(), in_problem = !found.problem_step.empty();
    found.text.en += in_golden ? ": step " + found.golden_step + " of golden" : ": not in golden's ledger";
    found.text.en +=
        in_problem ? ", step " + found.problem_step + " of problem" : ", not in problem's ledger";
    found.text.zh += in_golden ? "：标杆侧第 " + found.golden_step + " 步" : "：标杆侧账本中没有";
    found.text.zh += in_problem ? "，问题侧第 " + found.problem_step + " 步" : "，问题侧账本中没有";
  }
  return json;
}

Json compare_finding(const std::string& text, StepFinding& found) {
  Json json = Json::parse(member_in_head(text, "localisation"), nullptr, false);
  const std::string verdict = text_of(json, "verdict");
  found.text = {verdict, chinese_word(verdict)};
  const Json& culprits = member(json, "culprits");
  if (!culprits.is_array() || culprits.empty()) return json;
  found.culprit = text_of(culprits[0], "op");
  const Json target = Json::parse(member_in_head(text, "target"), nullptr, false);
  const Json& next = member(culprits[0], "next");
  if (text_of(target, "task") != "tensor" && next.is_array() && !next.empty() && next[0].is_string())
    found.dump_again = printable(next[0].get<std::string>());
  const std::string place = found.culprit + " " + text_of(culprits[0], "tensor"),
                    confidence = text_of(culprits[0], "confidence");
  found.text.en += ": " + place + ", " + confidence;
  found.text.zh += "：" + place + "，" + chinese_word(confidence);
  return json;
}

// What guide refuses.
Json guide_finding(const std::string& text, StepFinding& found) {
  Json json = Json::parse(text, nullptr, false);
  const Json& rules = member(json, "rules");
  if (!rules.is_array()) return json;
  for (const Json& rule : rules) {
    if (text_of(rule, "severity") != "error") continue;
    found.text.en += (found.text.en.empty() ? "" : "; ") + text_of(rule, "id") + " " + text_of(rule, "text");
  }
  found.text.zh = found.text.en;
  return json;
}

// The text of a result, of a large one its head where that is enough.
Result<std::string> result_text(int step, const std::string& path) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  if (step != kCompare || file.size() <= kMostHeadBytes) return file.read_text(kMostBytes);
  std::string head(kMostHeadBytes, '\0');
  ULPSCOPE_TRY(file.read_exact(0, std::as_writable_bytes(std::span(head))));
  return head;
}

}  // namespace

StepFinding finding_of(int step, const std::string& path) {
  StepFinding found;
  const auto text = result_text(step, path);
  if (!text.ok()) return found;
  Json json;
  if (step == 1)
    json = anomaly_finding(*text, found);
  else if (step == 2)
    json = badcase_finding(*text, found);
  else if (step == 3)
    json = config_finding(*text, found);
  else if (step == 5 || step == 7)
    json = first_token_finding(step, *text, found);
  else if (step == 6)
    json = guide_finding(*text, found);
  else if (step == kCompare)
    json = compare_finding(*text, found);
  else
    json = Json::parse(*text, nullptr, false);
  found.readable = json.is_object();
  return found;
}

BothLanguages replay_finding(const std::string& path) {
  constexpr uint64_t kMostReplayBytes = uint64_t{16} << 20;
  auto file = File::open(path);
  const auto text =
      file.ok() ? file->read_text(kMostReplayBytes) : Result<std::string>(std::move(file).error());
  if (!text.ok()) return {};
  const std::string_view all = trimmed(*text);
  const size_t end = all.rfind('\n');
  const std::string line = printable(end == std::string_view::npos ? all : all.substr(end + 1));
  constexpr std::string_view kOff = "off: ";
  return {line, line.starts_with(kOff) ? "有误差：" + line.substr(kOff.size()) : chinese_word(line)};
}

bool has_one_output_each(const std::string& path) {
  const auto text = result_text(0, path);
  if (!text.ok()) return false;
  bool all = true;
  const Json json = without_elements(*text, "requests", [&](const Json& request) {
    const Json& distinct = member(request, "distinct");
    const bool one = distinct.is_number() && distinct.get<double>() <= 1;
    all = all && (one || text_of(request, "status") == "same");
  });
  return all && member(json, "requests").is_array();
}

}  // namespace ulpscope
