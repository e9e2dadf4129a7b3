#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/flow_run.hpp"
#include "cli/help.hpp"
#include "cli/table.hpp"
#include "cli/wrap_text.hpp"
#include "guide/guide_texts.hpp"
#include "incident/incident_flow.hpp"
#include "locate/evidence.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace ulpscope {
namespace {

constexpr int kInterrupted = 130, kComparison = 9;
constexpr size_t kStateColumns = 8, kTextColumn = 11;

// This program with other words; what it prints goes to the file output, or nowhere when that is empty.
Result<int> run_program(const std::vector<std::string>& words, const std::string& output) {
  std::vector<std::string> all = {"ulpscope"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  arguments.reserve(all.size() + 1);
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.empty() ? "/dev/null" : output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return Error{Code::io,
                 "ulpscope " + words[0] + ": cannot be started: " + std::generic_category().message(failed)};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kInterrupted;
}

std::string state_word(const std::string& state, GuideLanguage language) {
  const std::map<std::string_view, std::string_view> chinese = {
      {"done", "完成"}, {"todo", "待办"}, {"blocked", "等待"}, {"failed", "失败"}};
  const auto at = chinese.find(state);
  std::string word =
      language == GuideLanguage::english || at == chinese.end() ? state : std::string(at->second);
  word.append(columns_of(word) < kStateColumns ? kStateColumns - columns_of(word) : 0, ' ');
  return word;
}

// A path of the folder of the incident from where the user is.
std::string path_in(const std::string& folder, const std::string& path) {
  return folder == "." ? path : folder + (folder.ends_with("/") ? "" : "/") + path;
}

// Text in the third column of the list of steps.
std::string in_column(const std::string& text, size_t limit) {
  return wrap_text(printable(text), kTextColumn, limit);
}

std::string step_text(const IncidentStep& step, const std::string& folder, GuideLanguage language,
                      size_t limit) {
  const bool english = language == GuideLanguage::english;
  std::string out = std::to_string(step.number);
  out.insert(0, 2 - out.size(), ' ');
  out += " " + state_word(step.state, language) +
         in_column(procedure()[static_cast<size_t>(step.number - 1)].what.in(language), limit)
             .substr(kTextColumn);
  const std::string& finding = step.finding.in(language);
  if (!finding.empty()) out += in_column("→ " + finding, limit);
  if (step.state == "done" || step.state == "failed")
    return step.result.empty() ? out : out + in_column(path_in(folder, step.result), 0);
  for (const BothLanguages& missing : step.missing)
    out += in_column((english ? "missing: " : "缺少：") + missing.in(language), limit);
  return out;
}

// What is to be done next, below the list of steps.
std::string next_text(const IncidentState& state, const std::string& folder, GuideLanguage language) {
  const bool english = language == GuideLanguage::english;
  std::string open;
  for (const IncidentStep& step : state.steps)
    if (step.state != "done") open += (open.empty() ? "" : ", ") + std::to_string(step.number);
  if (state.next == 0 && open.empty()) return english ? "\nall steps are done\n" : "\n全部步骤已完成\n";
  if (state.next == 0)
    return english ? "\nthe operation is found; not needed any more: steps " + open + "\n"
                   : "\n已找到算子；不再需要的步骤：" + open + "\n";
  const IncidentStep& next = state.steps[static_cast<size_t>(state.next - 1)];
  std::string out = (english ? "\nnext: step " : "\n下一步：步骤 ") + std::to_string(state.next);
  if (next.stops && !next.result.empty())
    return out + (english ? ", put right what it found, then again" : "，先处理其发现的问题，然后重新运行") +
           "\n    ulpscope flow " + printable(shell_word(folder)) + "\n";
  return out + "\n    " + printable(next.command) + "\n";
}

std::string state_text(const IncidentState& state, const std::string& folder, GuideLanguage language) {
  const bool english = language == GuideLanguage::english;
  const size_t limit = line_limit();
  std::string out, found;
  for (const IncidentStep& step : state.steps) {
    out += step_text(step, folder, language, limit);
    const std::string& finding = step.finding.in(language);
    if (step.number >= kComparison && step.state == "done" && !finding.empty())
      found += wrap_text((found.empty() ? (english ? "found: " : "结论：") : "") + printable(finding),
                         found.empty() ? 0 : 7, limit);
  }
  if (!found.empty()) out += "\n" + found;
  return out + next_text(state, folder, language);
}

class FlowCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "flow";
    info.group = CommandGroup::incident;
    info.summary = "Walks through an incident, from answer to operation";
    info.synopsis = "[DIR]";
    info.description =
        "Looks into the folder of an incident (default: here) for golden/ and problem/ (bundles of "
        "config-check), "
        "golden.outputs*, problem.outputs*, golden.run2*, problem.run2*, golden.scores*, problem.scores*, "
        "golden.ledger.jsonl, problem.ledger.jsonl, golden_dump/ and problem_dump/, runs the steps whose "
        "inputs are there "
        "and new, and says what it found, what is missing, and what to do next. The state is in flow.json.";
    info.example = "ulpscope flow incident";
    info.max_positional = 1;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    return {{"go_on", {}, OptionKind::flag, "", "do not stop at a step that must be put right first"},
            {"lang", {}, OptionKind::value, "LANGUAGE", "en (default) or zh"},
            {"format", {}, OptionKind::value, "FORMAT", "text (default) or json"}};
  }

  Result<ExitCode> run(Context& context) override {
    const auto& words = context.options().positional();
    return run_incident_flow(context, words.empty() ? "." : words[0]);
  }
};

}  // namespace

Result<ExitCode> run_incident_flow(Context& context, const std::string& folder) {
  const ParsedOptions& options = context.options();
  ULPSCOPE_ASSIGN(const std::string format, options.choice("format", {"text", "json"}));
  ULPSCOPE_ASSIGN(const std::string lang, options.choice("lang", {"en", "zh"}));
  const CommandList commands = make_commands();
  IncidentHost host;
  host.has_command = [&](const std::string& name) {
    return std::any_of(commands.begin(), commands.end(),
                       [&](const std::unique_ptr<Command>& command) { return command->info().name == name; });
  };
  host.run = [&](const std::vector<std::string>& words, const std::string& output) -> Result<int> {
    std::vector<std::string> all = words;
    for (const std::string& path : options.all("plugin_path")) {
      all.emplace_back("--plugin-path");
      all.push_back(path);
    }
    return run_program(all, output);
  };
  host.started = [&](int step, const std::string& command) {
    context.log().info("step " + std::to_string(step) + ": " + command);
  };
  ULPSCOPE_ASSIGN(const IncidentState state, run_incident(folder, options.has("go_on"), host));
  context.out() << (format == "json"
                        ? incident_json(state)
                        : state_text(state, folder,
                                     lang == "zh" ? GuideLanguage::chinese : GuideLanguage::english));
  return state.any_failed() ? ExitCode::unreadable : ExitCode::success;
}

std::unique_ptr<Command> make_flow_command() { return std::make_unique<FlowCommand>(); }

}  // namespace ulpscope
