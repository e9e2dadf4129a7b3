// The sections that are plain settings: packages, launch options, engine prints, MindIE, versions.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "config_check/config_check.hpp"

namespace ulpscope {
namespace {

// "2.7.0+cu126" as 2.7.0 and cu126.
std::pair<std::string, std::string> public_and_local(const std::string& version) {
  std::string lower = to_lower(version);
  if (lower.starts_with("v")) lower.erase(0, 1);
  const size_t plus = std::min(lower.find('+'), lower.size());
  return {lower.substr(0, plus), plus < lower.size() ? lower.substr(plus + 1) : ""};
}

void check_package(ConfigCheckRun& run, const std::string& name, const std::string* golden,
                   const std::string* problem) {
  if (run.catalogue.in_list("pip", "ignore", name)) return;
  const bool device_specific = run.catalogue.in_list("pip", "device_specific", name);
  const bool listed = run.catalogue.lists("pip", name);
  ConfigRow row{"pip", name, {}, {}, run.catalogue.severity("pip", name), ""};
  if (golden != nullptr) row.golden = ConfigValue::of_text(*golden);
  if (problem != nullptr) row.problem = ConfigValue::of_text(*problem);
  if (golden == nullptr || problem == nullptr) {
    row.why = std::string("not installed on the ") + (golden == nullptr ? "golden" : "problem") + " side";
    if (device_specific) row.severity = ConfigSeverity::info;
  } else {
    const auto [golden_public, golden_local] = public_and_local(*golden);
    const auto [problem_public, problem_local] = public_and_local(*problem);
    if (golden_public == problem_public) {
      if (golden_local == problem_local) return;
      if (listed || device_specific) row.severity = ConfigSeverity::info;
      row.why = "the same version, built differently";
    } else if (device_specific && !listed) {
      row.severity = ConfigSeverity::info;
    }
  }
  run.add(std::move(row));
}

// The members that both have, under one name for the longest sequence.
ConfigValue shared(const ConfigValue& object, const ConfigValue& other, std::set<std::string>& taken) {
  ConfigValue out;
  out.kind = ConfigKind::object;
  for (const auto& [name, value] : object.members)
    if (taken.count(name) == 0 && other.find(name) != nullptr) out.members.emplace_back(name, value);
  return out;
}

ConfigValue with_engine_names(ConfigValue object) {
  for (auto& member : object.members)
    if (member.first == "max_seq_len") member.first = "max_model_len";
  return object;
}

}  // namespace

void check_packages(ConfigCheckRun& run) {
  if (!run.both_have("pip", "pip.txt", run.golden.packages.has_value(), run.problem.packages.has_value()))
    return;
  std::set<std::string> names;
  for (const Bundle* side : {&run.golden, &run.problem})
    for (const auto& [name, version] : *side->packages) names.insert(name);
  const auto find = [](const NamedTexts& side, const std::string& name) {
    const auto at = side.find(name);
    return at == side.end() ? nullptr : &at->second;
  };
  for (const std::string& name : names)
    check_package(run, name, find(*run.golden.packages, name), find(*run.problem.packages, name));
}

void check_launch(ConfigCheckRun& run) {
  if (!run.both_have("launch", "launch.sh", run.golden.launch.has_value(), run.problem.launch.has_value()))
    return;
  if (!run.golden.launch->found || !run.problem.launch->found) return;  // said when it was read
  run.compare_leaves("launch", "launch", run.golden.launch->options, run.problem.launch->options, false);
}

void check_engine(ConfigCheckRun& run) {
  const bool golden_print = run.golden.files.count("model-config") > 0;
  const bool problem_print = run.problem.files.count("model-config") > 0;
  run.both_have("engine", "model_config.txt", golden_print, problem_print);
  // A name that a fuller source has settled is not looked at again in the next.
  std::set<std::string> taken;
  const auto compare = [&](const ConfigValue& left, const ConfigValue& right) {
    const ConfigValue golden = with_engine_names(left), problem = with_engine_names(right);
    const ConfigValue golden_shared = shared(golden, problem, taken);
    const ConfigValue problem_shared = shared(problem, golden, taken);
    for (const auto& member : golden_shared.members) taken.insert(member.first);
    run.compare_leaves("engine", "launch", golden_shared, problem_shared, false);
  };
  const auto print_of = [](const Bundle& bundle) -> const ConfigValue& {
    const bool in_log = bundle.model_config_print.is_null() && bundle.log;
    return in_log ? bundle.log->model_config : bundle.model_config_print;
  };
  compare(print_of(run.golden), print_of(run.problem));
  if (!run.golden.log || !run.problem.log) return;
  compare(run.golden.log->engine, run.problem.log->engine);
  compare(run.golden.log->arguments, run.problem.log->arguments);
}

void check_mindie(ConfigCheckRun& run) {
  if (run.both_have("mindie", "mindie_config.json", run.golden.files.count("mindie-config") > 0,
                    run.problem.files.count("mindie-config") > 0) &&
      !run.golden.mindie_config.is_null() && !run.problem.mindie_config.is_null())
    run.compare_leaves("mindie", "mindie", run.golden.mindie_config, run.problem.mindie_config, true);
}

void check_versions(ConfigCheckRun& run) {
  const bool in_golden = run.golden.versions.has_value(), in_problem = run.problem.versions.has_value();
  // Files of Ascend: a GPU has none.
  if (run.across_devices() || !run.both_have("versions", "version.info", in_golden, in_problem)) return;
  ConfigValue left, right;
  left.kind = right.kind = ConfigKind::object;
  for (const auto& [name, version] : *run.golden.versions)
    left.members.emplace_back(name, ConfigValue::of_text(version));
  for (const auto& [name, version] : *run.problem.versions)
    right.members.emplace_back(name, ConfigValue::of_text(version));
  run.compare_leaves("versions", "versions", left, right, false);
}

}  // namespace ulpscope
