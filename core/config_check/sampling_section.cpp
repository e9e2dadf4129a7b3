#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.hpp"
#include "config_check/config_check.hpp"

namespace ulpscope {
namespace {

constexpr double kGreedyBelow = 1e-5;  // what vLLM takes for greedy

// What a request has that does not say: printed by some versions, left out by others.
const std::map<std::string, std::string, std::less<>>& defaults() {
  static const std::map<std::string, std::string, std::less<>> kDefaults = {{"presence_penalty", "0"},
                                                                            {"frequency_penalty", "0"},
                                                                            {"repetition_penalty", "1"},
                                                                            {"length_penalty", "1"},
                                                                            {"top_p", "1"},
                                                                            {"min_p", "0"},
                                                                            {"min_tokens", "0"},
                                                                            {"n", "1"},
                                                                            {"ignore_eos", "false"},
                                                                            {"watermark", "false"}};
  return kDefaults;
}

ConfigValue normalised(const std::string& name, const ConfigValue* value) {
  ConfigValue plain = value == nullptr ? ConfigValue() : *value;
  const bool is_empty = (plain.kind == ConfigKind::list && plain.items.empty()) ||
                        (plain.kind == ConfigKind::object && plain.members.empty());
  if (is_empty) plain = {};
  if (name == "top_k") {
    // -1, 0 and none switch it off.
    const auto number = plain.number();
    if (plain.is_null() || (number && *number <= 0)) return ConfigValue::of_number("0");
  }
  if (plain.is_null()) {
    const auto standard = defaults().find(name);
    if (standard != defaults().end()) plain = value_of_word(standard->second);
  }
  return plain;
}

std::optional<double> temperature_of(const SamplingRequest& request) {
  const ConfigValue* sample = request.parameters.find("do_sample");
  if (sample != nullptr && sample->kind == ConfigKind::boolean && !sample->truth) return 0.0;
  const ConfigValue* value = request.parameters.find("temperature");
  return value == nullptr ? std::nullopt : value->number();
}

bool is_greedy(const SamplingRequest& request) {
  const auto temperature = temperature_of(request);
  return temperature && *temperature < kGreedyBelow;
}

std::string first_difference(const std::vector<int64_t>& golden, const std::vector<int64_t>& problem) {
  const size_t least = std::min(golden.size(), problem.size());
  size_t at = 0;
  while (at < least && golden[at] == problem[at]) ++at;
  std::string text = "first difference at position " + std::to_string(at);
  const auto is_extra = [&](const std::vector<int64_t>& longer, const std::vector<int64_t>& shorter) {
    return longer.size() == shorter.size() + 1 &&
           std::equal(longer.begin() + static_cast<std::ptrdiff_t>(at) + 1, longer.end(),
                      shorter.begin() + static_cast<std::ptrdiff_t>(at), shorter.end());
  };
  if (is_extra(problem, golden)) return text + " (extra " + std::to_string(problem[at]) + ")";
  if (is_extra(golden, problem)) return text + " (missing " + std::to_string(golden[at]) + ")";
  if (at < least) text += " (" + std::to_string(golden[at]) + " against " + std::to_string(problem[at]) + ")";
  return text;
}

// Golden index and problem index: equal prompts n-th with n-th, the rest in order.
std::vector<std::pair<size_t, size_t>> paired(const std::vector<SamplingRequest>& golden,
                                              const std::vector<SamplingRequest>& problem) {
  std::map<std::vector<int64_t>, std::vector<size_t>> by_prompt;
  for (size_t i = problem.size(); i-- > 0;)
    if (problem[i].has_ids) by_prompt[problem[i].prompt_ids].push_back(i);
  std::vector<std::pair<size_t, size_t>> pairs;
  std::vector<bool> used(problem.size());
  std::vector<size_t> rest;
  for (size_t i = 0; i < golden.size(); ++i) {
    const auto same = golden[i].has_ids ? by_prompt.find(golden[i].prompt_ids) : by_prompt.end();
    if (same == by_prompt.end() || same->second.empty()) {
      rest.push_back(i);
      continue;
    }
    pairs.emplace_back(i, same->second.back());
    used[same->second.back()] = true;
    same->second.pop_back();
  }
  size_t next = 0;
  for (const size_t i : rest) {
    while (next < problem.size() && used[next]) ++next;
    if (next == problem.size()) break;
    pairs.emplace_back(i, next++);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

void compare_requests(ConfigCheckRun& run, size_t index, const SamplingRequest& golden,
                      const SamplingRequest& problem) {
  const std::string prefix = "request " + std::to_string(index) + ": ";
  std::set<std::string> names;
  for (const SamplingRequest* side : {&golden, &problem})
    for (const auto& member : side->parameters.members) names.insert(member.first);
  const bool both_greedy = is_greedy(golden) && is_greedy(problem);
  for (const std::string& name : names) {
    const ConfigValue *left = golden.parameters.find(name), *right = problem.parameters.find(name);
    if (equal_as_float32(normalised(name, left), normalised(name, right))) continue;
    ConfigSeverity severity = run.catalogue.severity("sampling", name);
    // Versions print different fields: one that does not matter and is not printed is no difference.
    if (severity == ConfigSeverity::info && (left == nullptr || right == nullptr)) continue;
    ConfigRow row{"sampling",
                  prefix + name,
                  left == nullptr ? ConfigValue() : *left,
                  right == nullptr ? ConfigValue() : *right,
                  severity,
                  ""};
    const bool moot = name == "top_p" || name == "top_k" || name == "min_p" || name == "seed";
    if (both_greedy && moot) {
      row.severity = std::max(severity, ConfigSeverity::info);
      row.why = "both sides are greedy, where it has no effect";
    }
    run.add(std::move(row));
  }
  if (golden.has_ids && problem.has_ids && golden.prompt_ids != problem.prompt_ids)
    run.add({"sampling", prefix + "prompt_token_ids",
             ConfigValue::of_text(std::to_string(golden.prompt_ids.size()) + " ids"),
             ConfigValue::of_text(std::to_string(problem.prompt_ids.size()) + " ids"), ConfigSeverity::error,
             first_difference(golden.prompt_ids, problem.prompt_ids)});
}

void warn_of_sampling(ConfigCheckRun& run, const std::vector<SamplingRequest>& requests, bool is_golden) {
  for (const SamplingRequest& request : requests) {
    const auto temperature = temperature_of(request);
    if (!temperature || *temperature < kGreedyBelow) continue;
    ConfigRow row{"sampling",
                  std::string(is_golden ? "golden" : "problem") + ": not greedy",
                  {},
                  {},
                  ConfigSeverity::warning,
                  "with sampling two runs may differ by chance: use temperature 0"};
    (is_golden ? row.golden : row.problem) = *request.parameters.find("temperature");
    return run.add(std::move(row));
  }
}

}  // namespace

void check_sampling(ConfigCheckRun& run) {
  const auto check = [&](const std::string& input, const std::string& file,
                         const std::optional<LogFacts>& left, const std::optional<LogFacts>& right) {
    if (!run.both_have("sampling", file, run.golden.files.count(input) > 0,
                       run.problem.files.count(input) > 0))
      return;
    if (!left || !right) return;  // unreadable: said when it was read
    for (const auto& [golden, problem] : paired(left->requests, right->requests))
      compare_requests(run, golden, left->requests[golden], right->requests[problem]);
    if (left->requests.size() != right->requests.size())
      run.diagnostics.add({Severity::notice, Code::format, file,
                           std::to_string(left->requests.size()) + " requests in golden, " +
                               std::to_string(right->requests.size()) +
                               " in problem; the surplus is not compared"});
    warn_of_sampling(run, left->requests, true);
    warn_of_sampling(run, right->requests, false);
  };
  check("log", "server.log", run.golden.log, run.problem.log);
  check("mindie-log", "mindie-server.log", run.golden.mindie_log, run.problem.mindie_log);
}

}  // namespace ulpscope
