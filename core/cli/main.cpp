#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/stray_output.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/plugin_end.hpp"
#include "kernels/kernel_isa.hpp"
#include "plugin/builtin.hpp"

namespace ulpscope {
namespace {

// The one pointer that a signal handler can reach.
std::atomic<Cancel*> interrupted_run{nullptr};

// The first signal asks the run to stop, and says what a second one does: end the process, whatever a plugin
// is busy with.
extern "C" void on_signal(int /*signal*/) {
  Cancel* cancel = interrupted_run.load();
  if (cancel == nullptr || cancel->requested()) _exit(static_cast<int>(ExitCode::interrupted));
  cancel->request();
  constexpr std::string_view kSaid = "\nulpscope: stopping; once more ends it at once\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kSaid.data(), kSaid.size());
}

// A stream that was closed must not become that of the next file which is opened: it is taken by one that
// nothing can be written to.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY);
}

void catch_signals(Cancel& cancel) {
  interrupted_run.store(&cancel);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

struct Invocation {
  std::string command;                 // the first word that is no option; empty: none
  std::vector<std::string> arguments;  // all others, in order
};

// Splits by hand: a parser that tolerates what it does not know would swallow a later "--help" and the "--".
Invocation split_command(const std::vector<std::string>& words) {
  const std::vector<OptionSpec> common = common_options();
  Invocation invocation;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.empty() || word.front() != '-') {
      invocation.command = word;
      invocation.arguments.insert(invocation.arguments.end(),
                                  words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      return invocation;
    }
    invocation.arguments.push_back(word);
    const OptionSpec* spec = find_option(common, word);
    const bool whole =
        word.find('=') != std::string::npos ||
        (spec != nullptr && word[1] != '-' && word.size() > 2 && spec->shorts.front().size() == 1);
    if (spec != nullptr && spec->kind != OptionKind::flag && !whole && i + 1 < words.size())
      invocation.arguments.push_back(words[++i]);
  }
  return invocation;
}

Command* find_command(const CommandList& commands, const std::string& name) {
  for (const auto& command : commands) {
    const CommandInfo info = command->info();
    if (info.name == name || std::find(info.aliases.begin(), info.aliases.end(), name) != info.aliases.end())
      return command.get();
  }
  return nullptr;
}

std::vector<std::string> command_names(const CommandList& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) {
    const CommandInfo info = command->info();
    if (info.group == CommandGroup::hidden) continue;
    names.push_back(info.name);
    names.insert(names.end(), info.aliases.begin(), info.aliases.end());
  }
  return names;
}

int report(Log& log, const std::string& command, const Error& error) {
  log.error(command.empty() ? error.message : command + ": " + error.message);
  if (error.code == Code::usage)
    log.info("see 'ulpscope " + (command.empty() ? std::string() : command + " ") + "--help'");
  return static_cast<int>(exit_code(error.code));
}

Result<LogFormat> log_format(const ParsedOptions& options) {
  ULPSCOPE_ASSIGN(const std::string format, options.choice("log_format", {"text", "json"}));
  return format == "json" ? LogFormat::json : LogFormat::text;
}

LogLevel log_level(const ParsedOptions& options) {
  if (options.has("verbose")) return LogLevel::debug;
  return options.has("quiet") ? LogLevel::error : LogLevel::info;
}

int run_command(Command& command, const Invocation& invocation, const std::vector<std::string>& words,
                Cancel& cancel) {
  const CommandInfo info = command.info();
  const std::vector<OptionSpec> own = command.options();
  const std::vector<OptionSpec> common = remaining_common(own, info.writes_output);
  std::vector<OptionSpec> all = own;
  all.insert(all.end(), common.begin(), common.end());
  Log plain(LogLevel::info, LogFormat::text);
  auto options = parse_options(all, invocation.arguments, info.max_positional);
  if (!options.ok()) return report(plain, info.name, options.error());
  divert_stray_output();
  Output out(answer_descriptor());
  if (options->has("help")) {
    out << command_help(info, own, common);
    const Status written = out.flush();
    return written.ok() ? 0 : report(plain, info.name, written.error());
  }
  const auto format = log_format(*options);
  if (!format.ok()) return report(plain, info.name, format.error());
  Log log(log_level(*options), *format);
  if (const Status kernels = set_kernel_isa_from_environment(); !kernels.ok())
    log.warning(kernels.error().message);
  Context context(log, out, cancel, std::move(options).value(), words, builtin_plugins());
  const auto result = command.run(context);
  const Status written = out.flush();
  if (const StrayOutput stray = take_stray_output(); stray.size_bytes > 0)
    log.warning("a plugin or library printed " + size_text(stray.size_bytes) + " to the standard output: '" +
                printable(stray.beginning) + "'; a plugin prints nothing");
  if (!result.ok()) return report(log, info.name, result.error());
  if (!written.ok()) return report(log, info.name, written.error());
  return static_cast<int>(cancel.requested() ? ExitCode::interrupted : *result);
}

int run_program(const std::vector<std::string>& words, Cancel& cancel) {
  const CommandList commands = make_commands();
  Invocation invocation = split_command(words);
  Log log(LogLevel::info, LogFormat::text);
  if (invocation.command.empty()) {
    const auto asks = [&](const char* name) {
      return std::find(words.begin(), words.end(), name) != words.end();
    };
    if (asks("--version")) {
      invocation = {"version", {}};
    } else if (words.empty() || asks("--help") || asks("-h")) {
      Output out(words.empty() ? STDERR_FILENO : STDOUT_FILENO);
      out << program_help(commands);
      if (const Status written = out.flush(); !written.ok() && !words.empty())
        return report(log, "", written.error());
      return static_cast<int>(words.empty() ? ExitCode::usage : ExitCode::success);
    } else {
      auto options = parse_options(common_options(), invocation.arguments, 0);
      return report(log, "", options.ok() ? Error{Code::usage, "a command is missing"} : options.error());
    }
  }
  Command* command = find_command(commands, invocation.command);
  if (command == nullptr)
    return report(log, "",
                  Error{Code::usage, "unknown command '" + printable(invocation.command) + "'" +
                                         suggestion(invocation.command, command_names(commands))});
  return run_command(*command, invocation, words, cancel);
}

}  // namespace
}  // namespace ulpscope

namespace {

int guarded_main(const std::vector<std::string>& words, ulpscope::Cancel& cancel) {
  try {
    return ulpscope::run_program(words, cancel);
  } catch (const std::bad_alloc&) {
    ulpscope::Log(ulpscope::LogLevel::error, ulpscope::LogFormat::text).error("out of memory");
  } catch (const std::exception& problem) {
    ulpscope::Log(ulpscope::LogLevel::error, ulpscope::LogFormat::text)
        .error(std::string("internal error: ") + problem.what());
  }
  return static_cast<int>(ulpscope::ExitCode::internal);
}

}  // namespace

int main(int argc, char** argv) {
  // Outlives everything that a late signal may still reach.
  static ulpscope::Cancel cancel;
  ulpscope::hold_standard_streams();
  ulpscope::catch_signals(cancel);
  ulpscope::watch_for_plugin_ends();
  const int code = guarded_main(std::vector<std::string>(argv + 1, argv + argc), cancel);
  ulpscope::stop_watching();
  return code;
}
