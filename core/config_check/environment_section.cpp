#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "config_check/config_check.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kSection = "env";

// 1, true, True, on and yes are one value, 0, false, off and no another.
std::string meaning(const std::string& value) {
  const std::string lower = to_lower(trimmed(value));
  for (const std::string_view yes : {"1", "true", "on", "yes"})
    if (lower == yes) return "1";
  for (const std::string_view no : {"0", "false", "off", "no"})
    if (lower == no) return "0";
  return std::string(trimmed(value));
}

ConfigValue cell(const std::optional<std::string>& value) {
  return value ? ConfigValue::of_text(*value) : ConfigValue();
}

class EnvironmentSection {
 public:
  explicit EnvironmentSection(ConfigCheckRun& run)
      : run_(run), golden_(variables(run.golden)), problem_(variables(run.problem)) {}

  void check() {
    // Without env.txt on either side only what the launch scripts set is known.
    const bool golden_file = run_.golden.environment.has_value();
    const bool problem_file = run_.problem.environment.has_value();
    const bool scripts = !golden_file && !problem_file && run_.golden.launch && run_.problem.launch;
    if (!scripts && !run_.both_have("env", "env.txt", golden_file, problem_file)) return;
    check_engine_choice();
    if (!scripts) check_determinism();
    check_counterparts();
    std::set<std::string> names;
    for (const NamedTexts* side : {&golden_, &problem_})
      for (const auto& [name, value] : *side) names.insert(name);
    for (const std::string& name : names)
      if (done_.count(name) == 0) check_variable(name);
  }

 private:
  using Text = std::optional<std::string>;

  static NamedTexts variables(const Bundle& bundle) {
    NamedTexts all = bundle.environment ? *bundle.environment : NamedTexts();
    if (!bundle.launch) return all;
    for (const auto& [name, value] : bundle.launch->exported) all.try_emplace(name, value);
    for (const auto& [name, value] : bundle.launch->inline_environment) all[name] = value;
    return all;
  }
  static Text find(const NamedTexts& side, std::string_view name) {
    const auto at = side.find(name);
    return at == side.end() ? Text() : Text(at->second);
  }

  void row(const std::string& key, const Text& golden, const Text& problem, ConfigSeverity severity,
           std::string why = "") {
    run_.add({std::string(kSection), key, cell(golden), cell(problem), severity, std::move(why)});
  }

  // VLLM_USE_V1 by what it comes to: unset it is 0 before 0.8, 1 from 0.8 to 0.10, and without meaning after.
  static Text effective_engine(const Bundle& bundle, const Text& set, std::string& shown) {
    const auto release = release_of(bundle.vllm_version);
    if (release && *release >= std::pair<int64_t, int64_t>{0, 11}) {
      shown = "1 (no other engine from 0.11 on)";
      return "1";
    }
    if (set || !release) {
      if (set) shown = *set;
      return set ? Text(meaning(*set)) : Text();
    }
    const std::string value = *release < std::pair<int64_t, int64_t>{0, 8} ? "0" : "1";
    shown = value + " (default of " + std::to_string(release->first) + "." + std::to_string(release->second) +
            ".x)";
    return value;
  }

  void check_engine_choice() {
    const std::string name = "VLLM_USE_V1";
    done_.insert(name);
    const Text golden = find(golden_, name), problem = find(problem_, name);
    const auto is_late = [](const Bundle& bundle) {
      const auto release = release_of(bundle.vllm_version);
      return release && *release >= std::pair<int64_t, int64_t>{0, 11};
    };
    if (is_late(run_.golden) && is_late(run_.problem)) return;
    std::string golden_shown, problem_shown;
    const Text golden_is = effective_engine(run_.golden, golden, golden_shown);
    const Text problem_is = effective_engine(run_.problem, problem, problem_shown);
    if (golden_is == problem_is) return;
    // One side's version is not known and it is not set there: nothing to hold against the other's default.
    if ((!golden_is && !problem) || (!problem_is && !golden)) return;
    row(name, golden_is ? Text(golden_shown) : Text(), problem_is ? Text(problem_shown) : Text(),
        run_.catalogue.severity(kSection, name), "the two runs use different engines");
  }

  struct Required {
    std::string name;
    std::vector<std::string> values;

    bool holds(const Text& value) const {
      return value && std::any_of(values.begin(), values.end(), [&](const std::string& wanted) {
               return meaning(to_lower(*value)) == meaning(wanted);
             });
    }
  };

  static Required required(const std::string& line) {
    Required found;
    const size_t equals = std::min(line.find('='), line.size());
    found.name = line.substr(0, equals);
    if (equals < line.size())
      for (const std::string_view value : split(std::string_view(line).substr(equals + 1), '|'))
        found.values.emplace_back(value);
    return found;
  }

  void check_determinism() {
    const bool golden_npu = run_.golden.device == "npu", problem_npu = run_.problem.device == "npu";
    if (!golden_npu && !problem_npu) return;
    const ConfigSeverity loose =
        run_.options.require_deterministic ? ConfigSeverity::error : ConfigSeverity::warning;
    for (const std::string& line : run_.catalogue.list(kSection, "determinism")) {
      const Required wanted = required(line);
      done_.insert(wanted.name);
      const Text golden = find(golden_, wanted.name), problem = find(problem_, wanted.name);
      const bool golden_on = wanted.holds(golden), problem_on = wanted.holds(problem);
      if (golden_npu && problem_npu) {
        if (golden_on != problem_on)
          row(wanted.name, golden, problem, ConfigSeverity::error,
              std::string("determinism is off on the ") + (golden_on ? "problem" : "golden") + " side only");
        else if (!golden_on)
          row(wanted.name, golden, problem, loose, "determinism is off on both sides");
        else if (meaning(to_lower(*golden)) != meaning(to_lower(*problem)))
          row(wanted.name, golden, problem, ConfigSeverity::warning,
              "both are deterministic, in different ways");
        continue;
      }
      const Text& value = golden_npu ? golden : problem;
      if (golden_npu ? golden_on : problem_on) continue;
      row(wanted.name, golden_npu ? value : Text(), golden_npu ? Text() : value, loose,
          value ? "determinism is off on the NPU side"
                : "required value " + wanted.values.front() + " is not set on the NPU side");
    }
  }

  void check_counterparts() {
    if (!run_.across_devices()) return;
    const bool golden_npu = run_.golden.device == "npu";
    for (const std::string& pair : run_.catalogue.list(kSection, "counterparts")) {
      const size_t bar = std::min(pair.find('|'), pair.size() - 1);
      const std::string gpu = pair.substr(0, bar), npu = pair.substr(bar + 1);
      done_.insert(gpu);
      done_.insert(npu);
      const Text golden = find(golden_, golden_npu ? npu : gpu),
                 problem = find(problem_, golden_npu ? gpu : npu);
      if (same(golden, problem)) continue;
      row(pair, golden, problem, run_.catalogue.severity(kSection, gpu));
    }
  }

  static bool same(const Text& a, const Text& b) {
    return a.has_value() == b.has_value() && (!a || meaning(*a) == meaning(*b));
  }

  bool is_compared(const std::string& name) const {
    if (run_.catalogue.in_list(kSection, "ignore", name)) return false;
    for (const char* list : {"error", "warning", "info"})
      if (run_.catalogue.in_list(kSection, list, name)) return true;
    if (is_secret_variable(name)) return false;
    const std::vector<std::string> parts = run_.catalogue.list(kSection, "ignored_parts");
    for (const std::string_view part : split(name, '_'))
      if (std::find(parts.begin(), parts.end(), part) != parts.end()) return false;
    const std::vector<std::string> prefixes = run_.catalogue.list(kSection, "prefixes");
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](const std::string& prefix) { return name.starts_with(prefix); });
  }

  void check_variable(const std::string& name) {
    Text golden = find(golden_, name), problem = find(problem_, name);
    if (same(golden, problem)) return;
    const bool of_one_device = run_.catalogue.in_list(kSection, "gpu_only", name) ||
                               run_.catalogue.in_list(kSection, "npu_only", name);
    const bool compared = is_compared(name) && !(run_.across_devices() && of_one_device);
    if (!compared && !run_.options.all_variables) return;
    if (is_secret_variable(name))
      for (Text* value : {&golden, &problem})
        if (*value) *value = hidden(**value);
    ConfigSeverity severity = compared ? run_.catalogue.severity(kSection, name) : ConfigSeverity::info;
    if (compared && run_.across_devices() && run_.catalogue.in_list(kSection, "equal_devices", name))
      severity = ConfigSeverity::info;
    row(name, golden, problem, severity);
  }

  ConfigCheckRun& run_;
  const NamedTexts golden_, problem_;
  std::set<std::string> done_;
};

}  // namespace

void check_environment(ConfigCheckRun& run) { EnvironmentSection(run).check(); }

}  // namespace ulpscope
