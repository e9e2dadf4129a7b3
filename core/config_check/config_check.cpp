#include "config_check/config_check.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.hpp"

namespace ulpscope {
namespace {

std::string last_part(const std::string& key) {
  const size_t dot = key.rfind('.');
  return dot == std::string::npos ? key : key.substr(dot + 1);
}

std::string base_name(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

bool is_token_id(const std::string& name) {
  return name == "eos_token_id" || name == "bos_token_id" || name == "pad_token_id";
}

// A number as a list of it, sorted: what [2, 1], 2 and [2] have in common.
std::vector<std::string> as_set(const ConfigValue& value) {
  std::set<std::string> found;
  if (value.kind == ConfigKind::list)
    for (const ConfigValue& item : value.items) found.insert(config_json(item, true));
  else if (!value.is_null())
    found.insert(config_json(value, true));
  return {found.begin(), found.end()};
}

std::string without_torch(const std::string& text) {
  return text.starts_with("torch.") ? text.substr(6) : text;
}

bool same_setting(const std::string& key, const ConfigValue& a, const ConfigValue& b) {
  const std::string name = last_part(key);
  if (is_token_id(name)) return as_set(a) == as_set(b);
  if (a.is_text() && b.is_text()) {
    if (name == "dtype" || name == "torch_dtype") return without_torch(a.text) == without_torch(b.text);
    if (name == "model" || name == "modelWeightPath") return base_name(a.text) == base_name(b.text);
  }
  return equal_values(a, b);
}

// dtype and torch_dtype are one setting under two names.
std::string plain_key(const std::string& key) {
  if (last_part(key) == "torch_dtype") return key.substr(0, key.size() - 11) + "dtype";
  return key;
}

void hide_secrets(ConfigValue& value, const SecretValues& golden, const SecretValues& problem) {
  value.text = problem.hide(golden.hide(std::move(value.text)));
  for (ConfigValue& item : value.items) hide_secrets(item, golden, problem);
  for (auto& [name, member] : value.members) hide_secrets(member, golden, problem);
}

}  // namespace

std::string ConfigCheckResult::verdict() const {
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) return std::string(to_text(static_cast<ConfigSeverity>(i)));
  return is_complete ? "pass" : "incomplete";
}

void ConfigCheckRun::add(ConfigRow row) {
  if (row.severity != ConfigSeverity::ignored) rows.push_back(std::move(row));
}

bool ConfigCheckRun::both_have(const std::string& section, const std::string& input, bool in_golden,
                               bool in_problem) {
  if (in_golden == in_problem) {
    compared_sections += in_golden ? 1 : 0;
    return in_golden;
  }
  ConfigRow row{section, "missing input", {}, {}, ConfigSeverity::warning, ""};
  (in_golden ? row.golden : row.problem) = ConfigValue::of_text(input);
  row.why = std::string(in_golden ? "problem" : "golden") + " has no " + input + ": not compared";
  add(std::move(row));
  return false;
}

void ConfigCheckRun::compare_leaves(const std::string& section, const std::string& catalogue_section,
                                    const ConfigValue& left, const ConfigValue& right, bool any_part) {
  // Golden's order first, then what only problem has.
  struct Pair {
    std::string key;
    ConfigValue golden, problem;
  };
  std::map<std::string, Pair> pairs;
  for (auto& [key, value] : leaves_of(left)) {
    Pair& pair = pairs[plain_key(key)];
    pair.key = key;
    pair.golden = std::move(value);
  }
  for (auto& [key, value] : leaves_of(right)) {
    Pair& pair = pairs[plain_key(key)];
    if (pair.key.empty()) pair.key = key;
    pair.problem = std::move(value);
  }
  for (auto& [plain, pair] : pairs) {
    if (same_setting(pair.key, pair.golden, pair.problem)) continue;
    ConfigSeverity severity = catalogue.severity(catalogue_section, pair.key, any_part);
    for (ConfigValue* value : {&pair.golden, &pair.problem})
      if (value->is_text() && is_secret_option(pair.key)) value->text = hidden(value->text);
    add({section, pair.key, std::move(pair.golden), std::move(pair.problem), severity, ""});
  }
}

ConfigCheckResult config_check(ConfigCheckRun run) {
  check_environment(run);
  check_packages(run);
  check_launch(run);
  check_engine(run);
  check_sampling(run);
  check_mindie(run);
  check_versions(run);
  check_model_files(run);
  if (run.options.weights != WeightsMode::none) check_weights(run);
  ConfigCheckResult result;
  result.rows = std::move(run.rows);
  result.compared_sections = run.compared_sections;
  result.is_complete = run.compared_sections > 0 && run.diagnostics.count(Severity::error) == 0;
  for (ConfigRow& row : result.rows) {
    hide_secrets(row.golden, run.golden.secrets, run.problem.secrets);
    hide_secrets(row.problem, run.golden.secrets, run.problem.secrets);
    row.why = run.problem.secrets.hide(run.golden.secrets.hide(std::move(row.why)));
    ++result.counts[static_cast<size_t>(row.severity)];
  }
  std::stable_sort(result.rows.begin(), result.rows.end(), [](const ConfigRow& a, const ConfigRow& b) {
    return std::tie(a.severity, a.section, a.key) < std::tie(b.severity, b.section, b.key);
  });
  return result;
}

}  // namespace ulpscope
