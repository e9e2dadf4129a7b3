#include "cli/plugins_check.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/text.hpp"
#include "cli/table.hpp"
#include "cli/wrap_text.hpp"
#include "conformance/conformance.hpp"
#include "plugin/trust.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kFileEnd = ".plugin.so";

// The plugin that a word means: a file, or the name of one in the folders that are searched, or one compiled
// in.
struct Named {
  std::string file;
  ulpscope_plugin_entry_fn entry = nullptr;
};

Result<Named> find_named(Context& context, const std::string& word) {
  std::error_code error;
  if (fs::exists(word, error)) {
    ULPSCOPE_ASSIGN(std::string file, canonical_path(word));
    return Named{std::move(file), nullptr};
  }
  ULPSCOPE_ASSIGN(Registry * registry, context.registry());
  for (const BuiltinPlugin& builtin : registry->search().builtin)
    if (builtin.name == word) return Named{"", builtin.entry};
  for (const PluginFolder& folder : registry->search().folders) {
    const std::string path = folder.path + "/" + word + std::string(kFileEnd);
    if (!fs::exists(path, error)) continue;
    ULPSCOPE_ASSIGN(std::string file, canonical_path(path));
    return Named{std::move(file), nullptr};
  }
  return Error{Code::usage, "no plugin file '" + printable(word) +
                                "', and no plugin of that name; 'ulpscope plugins "
                                "path' shows where they are looked for"};
}

Result<ExitCode> list_checks(Context& context) {
  ColumnTable table({"CHECK", "ASKS OF THE PLUGIN"}, {false, false});
  for (const Check& check : all_checks()) table.add({std::string(check.id), std::string(check.doc)});
  context.out() << table.text(line_limit());
  return ExitCode::success;
}

void print_outcome(Output& out, const CheckOutcome& outcome) {
  constexpr size_t kNameWidth = 26;
  const bool is_good = outcome.findings.empty();
  const auto worst = std::max_element(outcome.findings.begin(), outcome.findings.end(),
                                      [](const Finding& a, const Finding& b) { return a.level < b.level; });
  std::string name(outcome.check.id);
  name.resize(std::max(kNameWidth, name.size() + 1), ' ');
  if (!outcome.skipped.empty()) {
    out << "skip     " << name << outcome.skipped << "\n";
    return;
  }
  std::string word(is_good ? "ok" : to_text(worst->level));
  word.resize(9, ' ');
  out << word << name << outcome.check.doc << "\n";
  for (const Finding& finding : outcome.findings)
    out << wrap_text(std::string(to_text(finding.level)) + ": " +
                         (finding.component.empty() ? "" : printable(finding.component) + ": ") +
                         printable(finding.text),
                     9, 100);
}

Json to_json(const std::string& file, const std::string& sample, const ConformanceResult& result) {
  Json checks = Json::array();
  for (const CheckOutcome& outcome : result.outcomes) {
    Json findings = Json::array();
    for (const Finding& finding : outcome.findings)
      findings.push_back(
          {{"level", to_text(finding.level)}, {"component", finding.component}, {"text", finding.text}});
    Json one = {{"id", outcome.check.id}, {"asks", outcome.check.doc}};
    if (!outcome.skipped.empty()) one["skipped"] = outcome.skipped;
    one["findings"] = std::move(findings);
    checks.push_back(std::move(one));
  }
  return {{"schema", "ulpscope.conformance/1"},
          {"plugin", file},
          {"sample", sample.empty() ? Json(nullptr) : Json(sample)},
          {"errors", result.count(FindingLevel::error)},
          {"warnings", result.count(FindingLevel::warning)},
          {"notes", result.count(FindingLevel::note)},
          {"checks", std::move(checks)}};
}

std::string counted(size_t count, const char* word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

}  // namespace

std::vector<OptionSpec> plugins_check_options() {
  return {
      {"dump", {}, OptionKind::value, "SAMPLE", "check: a dump that the plugin's source reads"},
      {"only",
       {},
       OptionKind::value,
       "CHECK",
       "check: one check, or those of one kind: source, judgement.merge"},
      {"list", {}, OptionKind::flag, "", "check: print the checks and what they ask"},
      {"json", {}, OptionKind::flag, "", "check: print the result as JSON"},
      {"in_process", {}, OptionKind::flag, "", "check: in this process, for a debugger; a crash ends it"},
      {"strict", {}, OptionKind::flag, "", "check: exit with 1 for warnings too"},
  };
}

Result<ExitCode> check_plugin_action(Context& context) {
  const ParsedOptions& options = context.options();
  if (options.has("list")) return list_checks(context);
  ULPSCOPE_ASSIGN(const std::string word, options.required(1, "FILE"));
  ULPSCOPE_ASSIGN(const Named named, find_named(context, word));
  std::string sample = options.text_or("dump", "");
  std::error_code error;
  if (!sample.empty() && !fs::exists(sample, error))
    return Error{Code::io, printable(sample) + ": no such file or folder"};
  const ConformanceOptions wanted{options.text_or("only", ""), options.has("in_process")};
  ULPSCOPE_ASSIGN(const ConformanceResult result, check_plugin(named.file, named.entry, sample, wanted));
  const std::string shown = named.file.empty() ? word : named.file;
  Output& out = context.out();
  if (options.has("json")) {
    out << to_json(shown, sample, result).dump(2, ' ', true, Json::error_handler_t::replace) << "\n";
  } else {
    for (const CheckOutcome& outcome : result.outcomes) print_outcome(out, outcome);
    out << "\n"
        << printable(shown) << ": " << counted(result.count(FindingLevel::error), "error") << ", "
        << counted(result.count(FindingLevel::warning), "warning") << ", "
        << counted(result.count(FindingLevel::note), "note") << "\n";
  }
  const bool failed = result.count(FindingLevel::error) > 0 ||
                      (options.has("strict") && result.count(FindingLevel::warning) > 0);
  return failed ? ExitCode::finding : ExitCode::success;
}

}  // namespace ulpscope
