#include "conformance/conformance.hpp"

#include <algorithm>
#include <utility>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "conformance/child_process.hpp"
#include "plugin/library.hpp"

namespace ulpscope {
namespace {

Result<PluginTables> load(const std::string& file, ulpscope_plugin_entry_fn entry) {
  if (!file.empty()) {
    ULPSCOPE_ASSIGN(entry, load_library(file));
  }
  ULPSCOPE_ASSIGN(const ulpscope_plugin* plugin, call_entry(entry));
  return check_tables(*plugin);
}

bool is_wanted(const Check& check, std::string_view only) {
  return only.empty() || check.id == only || (check.id.starts_with(only) && check.id[only.size()] == '.');
}

size_t components(const PluginTables& tables, CheckKind kind) {
  switch (kind) {
    case CheckKind::source:
      return tables.sources.size();
    case CheckKind::judgement:
      return tables.judgements.size();
    case CheckKind::executor:
      return tables.executors.size();
    case CheckKind::library:
      break;
  }
  return 1;
}

// What the plugin holds, asked in a child: a plugin that crashes while it is loaded must not take the kit
// along.
struct Contents {
  bool loads = false;
  size_t of_kind[4] = {1, 0, 0, 0};
};

Result<Contents> contents_of(const std::string& file, ulpscope_plugin_entry_fn entry) {
  static constexpr int kLimitSeconds = 20;
  const Check look = {
      "library.load",
      CheckKind::library,
      false,
      kLimitSeconds,
      "",
      [](const CheckSubject& subject, CheckFindings& report) {
        const auto tables = load(subject.file, nullptr);
        if (!tables.ok()) return;
        for (const CheckKind kind : {CheckKind::source, CheckKind::judgement, CheckKind::executor})
          report.note(std::to_string(components(*tables, kind)));
      }};
  Contents contents;
  if (file.empty()) {
    const auto tables = load(file, entry);
    contents.loads = tables.ok();
    if (!tables.ok()) return contents;
    for (const CheckKind kind : {CheckKind::source, CheckKind::judgement, CheckKind::executor})
      contents.of_kind[static_cast<int>(kind)] = components(*tables, kind);
    return contents;
  }
  ULPSCOPE_ASSIGN(const std::vector<Finding> said, run_in_child(look, {file, nullptr, "", nullptr}));
  if (said.size() != 3) return contents;
  contents.loads = true;
  for (size_t i = 0; i < said.size(); ++i)
    contents.of_kind[i + 1] = static_cast<size_t>(parse_int(said[i].text).value_or(0));
  return contents;
}

// The plugin is loaded anew for each check, inside its process; the checks of the library load it themselves.
void run_loaded(const Check& check, CheckSubject subject, CheckFindings& report) {
  if (check.kind == CheckKind::library) return check.run(subject, report);
  const auto tables = load(subject.file, subject.entry);
  if (!tables.ok()) return report.error("the plugin cannot be loaded: " + tables.error().message);
  subject.tables = &tables.value();
  check.run(subject, report);
}

// Those that say why a file is no plugin, and so make sense of one that cannot be loaded.
bool looks_at_the_file(const Check& check) {
  return check.id == "library.marker" || check.id == "library.symbols" || check.id == "library.load";
}

// Whether the check is about something that the plugin holds.
bool is_about(const Check& check, const Contents& contents) {
  if (check.kind == CheckKind::library) return contents.loads || looks_at_the_file(check);
  return contents.loads && contents.of_kind[static_cast<int>(check.kind)] > 0;
}

std::string why_skipped(const Check& check, const std::string& file, const std::string& sample) {
  if (check.kind == CheckKind::library) return file.empty() ? "the plugin is compiled in" : "";
  return check.needs_sample && sample.empty() ? "needs a sample: --dump" : "";
}

}  // namespace

std::string_view to_text(FindingLevel level) {
  constexpr std::string_view kNames[] = {"note", "warning", "error"};
  return kNames[static_cast<size_t>(level)];
}

size_t ConformanceResult::count(FindingLevel level) const {
  size_t found = 0;
  for (const CheckOutcome& outcome : outcomes)
    found +=
        static_cast<size_t>(std::count_if(outcome.findings.begin(), outcome.findings.end(),
                                          [&](const Finding& finding) { return finding.level == level; }));
  return found;
}

std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (const auto& checks : {library_checks(), source_checks(), judgement_checks(), executor_checks()})
    all.insert(all.end(), checks.begin(), checks.end());
  return all;
}

Result<ConformanceResult> check_plugin(const std::string& file, ulpscope_plugin_entry_fn entry,
                                       const std::string& sample, const ConformanceOptions& options) {
  const std::vector<Check> checks = all_checks();
  if (std::none_of(checks.begin(), checks.end(),
                   [&](const Check& each) { return is_wanted(each, options.only); })) {
    std::vector<std::string> names;
    names.reserve(checks.size());
    for (const Check& check : checks) names.emplace_back(check.id);
    return Error{Code::usage,
                 "there is no check '" + printable(options.only) + "'" + suggestion(options.only, names)};
  }
  ULPSCOPE_ASSIGN(const Contents contents, contents_of(file, entry));
  ConformanceResult result;
  for (const Check& check : checks) {
    if (!is_wanted(check, options.only) || !is_about(check, contents)) continue;
    CheckOutcome outcome{check, why_skipped(check, file, sample), {}};
    if (outcome.skipped.empty()) {
      const CheckSubject subject{file, entry, sample, nullptr};
      if (options.in_process) {
        CheckFindings report(check.id);
        run_loaded(check, subject, report);
        outcome.findings = report.findings();
      } else {
        Check loaded = check;
        loaded.run = [&check](const CheckSubject& of, CheckFindings& report) {
          run_loaded(check, of, report);
        };
        ULPSCOPE_ASSIGN(outcome.findings, run_in_child(loaded, subject));
      }
    }
    result.outcomes.push_back(std::move(outcome));
  }
  return result;
}

}  // namespace ulpscope
