#include "cli/context.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/dump_hint.hpp"
#include "cli/filter_check.hpp"
#include "report/output_folder.hpp"

namespace ulpscope {
namespace {

constexpr int64_t kMaxJobs = 4096;

OptionSpec flag(std::string name, std::vector<std::string> shorts, std::string doc) {
  return {std::move(name), std::move(shorts), OptionKind::flag, "", std::move(doc)};
}
OptionSpec value(std::string name, std::vector<std::string> shorts, std::string value_name, std::string doc) {
  return {std::move(name), std::move(shorts), OptionKind::value, std::move(value_name), std::move(doc)};
}

// The source that a word of --mode names: the peer's words beside our own.
std::string source_of_mode(const std::string& mode) {
  if (mode == "atb") return "mindie_atb";
  if (mode == "offline_data") return "acl_om";
  return mode;
}

std::string dumped(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string_view product_version() { return ULPSCOPE_VERSION; }

Context::Context(Log& log, Output& out, const Cancel& cancel, ParsedOptions options,
                 std::vector<std::string> command_line, std::vector<BuiltinPlugin> builtin)
    : log_(log),
      out_(out),
      cancel_(cancel),
      options_(std::move(options)),
      command_line_(std::move(command_line)),
      builtin_(std::move(builtin)) {}

// Plugins end before what they use.
Context::~Context() {
  registry_.reset();
  host_.reset();
}

Result<ThreadPool*> Context::pool() {
  if (!pool_) {
    const int64_t threads = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, kMaxJobs);
    ULPSCOPE_ASSIGN(const int64_t jobs, options_.integer("jobs", threads, 1, kMaxJobs));
    pool_ = std::make_unique<ThreadPool>(static_cast<int>(jobs));
  }
  return pool_.get();
}

Result<Registry*> Context::registry() {
  if (!registry_) {
    ULPSCOPE_ASSIGN(ThreadPool * workers, pool());
    host_ = std::make_unique<HostServices>(
        *workers, cancel_,
        [this](LogLevel level, std::string_view text) {
          capture_ ? capture_(level, text) : log_.write(level, text);
        },
        std::string(product_version()));
    registry_ = std::make_unique<Registry>(
        standard_search(options_.all("plugin_path"), builtin_, options_.has("allow_unsafe_plugins")), *host_,
        diagnostics_);
  }
  return registry_.get();
}

Result<std::string> Context::make_output_folder(std::string_view command) {
  FolderRequest request;
  request.base = options_.text_or("output_path", request.base);
  request.command = std::string(command);
  request.exact = options_.has("exact_output");
  return ulpscope::make_output_folder(request);
}

Result<SourceHandle> Context::open_source(const std::string& path, const std::string& source_name,
                                          const std::string& options_json) {
  ULPSCOPE_TRY(pool());  // a mistake in the options is told before any of the input
  // A path that is not there is missing input; asked for their opinion, the sources would only say "not
  // mine".
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0)
    return Error{Code::io, printable(path) + ": " + std::generic_category().message(errno)};
  if (!S_ISDIR(status.st_mode)) {
    const auto file = File::open(path);
    if (!file.ok()) return file.error();
  }
  std::error_code failed;
  const bool is_empty = S_ISDIR(status.st_mode) && std::filesystem::is_empty(path, failed);
  if (failed) return Error{Code::io, printable(path) + ": " + failed.message()};
  if (is_empty) return Error{Code::io, printable(path) + ": the folder is empty, expected a dump"};
  ULPSCOPE_ASSIGN(Registry * plugins, registry());
  auto source = plugins->open_source(source_of_mode(source_name), path, options_json);
  const bool is_auto = source_name.empty() || source_name == "auto";
  if (!source.ok() && is_auto && source.error().code == Code::usage) {
    Error error = std::move(source).error();
    error.message += hint_below(*plugins, path);
    return error;
  }
  if (const std::string hint = is_auto ? hint_above(path) : std::string(); !hint.empty()) log_.warning(hint);
  return source;
}

Result<DumpIndex> Context::open_dump(const std::string& path, const std::string& source_name,
                                     const ScanFilter& filter, const std::string& options_json) {
  ULPSCOPE_ASSIGN(SourceHandle source, open_source(path, source_name, options_json));
  return DumpIndex::build(std::move(source), filter, diagnostics_, cancel_);
}

Result<DumpIndex> Context::open_dump(const std::string& path, bool keep_storage) {
  ULPSCOPE_ASSIGN(const ScanFilter filter, scan_filter(options_));
  ULPSCOPE_ASSIGN(SourceOptions wanted, source_options(options_, filter));
  if (keep_storage) {
    nlohmann::json json = nlohmann::json::parse(wanted.json);
    json["layout"] = "raw";
    json["raw"] = true;  // what sources of offline models call it
    wanted.json = dumped(json);
  }
  ULPSCOPE_ASSIGN(SourceHandle source, open_source(path, options_.text_or("mode", "auto"), wanted.json));
  ULPSCOPE_TRY(check_source_options(wanted.names, {std::string(source.source_name())}));
  ULPSCOPE_ASSIGN(DumpIndex index, DumpIndex::build(std::move(source), filter, diagnostics_, cancel_));
  ULPSCOPE_TRY(check_filter(index, filter, wanted.json, diagnostics_));
  return index;
}

Status Context::check_filter(const DumpIndex& index, const ScanFilter& filter,
                             const std::string& options_json, Diagnostics& found) {
  if (fits_in_full(index, filter)) return {};
  nlohmann::json json = nlohmann::json::parse(options_json);
  json.erase("steps");
  json.erase("ranks");
  ULPSCOPE_ASSIGN(SourceHandle whole,
                  open_source(index.path(), std::string(index.source_name()), dumped(json)));
  ULPSCOPE_ASSIGN(const std::vector<std::string> unmet,
                  unmet_wishes(index, filter, std::move(whole), cancel_));
  std::string all;
  for (const std::string& each : unmet) {
    all += (all.empty() ? "" : "\n") + each;
    if (!index.ops().empty()) found.add({Severity::warning, Code::usage, "", each});
  }
  if (index.ops().empty() && !all.empty()) return Error{Code::usage, all};
  return {};
}

Status Context::check_source_options(const std::vector<std::string>& names,
                                     const std::vector<std::string>& source_names) {
  if (names.empty()) return {};
  ULPSCOPE_ASSIGN(Registry * plugins, registry());
  std::vector<std::string> known;
  for (const PluginInfo& plugin : plugins->plugins())
    for (const ComponentInfo& component : plugin.components)
      if (component.kind == ComponentKind::source &&
          std::find(source_names.begin(), source_names.end(), component.name) != source_names.end())
        for (const OptionInfo& option : component.options) known.push_back(option.name);
  std::string sources;
  for (size_t i = 0; i < source_names.size(); ++i)
    if (i == 0 || source_names[i] != source_names[0]) sources += (i == 0 ? "" : " and ") + source_names[i];
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Error{Code::usage, "option --source-option: " + sources + " has no option '" + printable(name) +
                                    "'" + suggestion(name, known)};
  return {};
}

void Context::log_diagnostics(size_t most_lines) {
  std::vector<Diagnostic> kept = diagnostics_.kept();
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.severity > b.severity; });
  const size_t shown = std::min(most_lines, kept.size());
  for (size_t i = 0; i < shown; ++i) {
    const Diagnostic& each = kept[i];
    const LogLevel level = each.severity == Severity::error     ? LogLevel::error
                           : each.severity == Severity::warning ? LogLevel::warning
                                                                : LogLevel::info;
    log_.write(level, each.where.empty() ? each.text : each.where + ": " + each.text);
  }
  const int64_t rest = diagnostics_.count() - static_cast<int64_t>(shown);
  if (rest > 0) log_.warning("and " + count_text(rest) + " more findings about the dump");
}

std::vector<OptionSpec> common_options() {
  return {
      flag("help", {"h"}, "this text"),
      value("jobs", {"j"}, "N", "worker threads; default: as many as the machine has"),
      flag("verbose", {"v"}, "log what is done and why"),
      flag("quiet", {"q"}, "log errors only, show no progress"),
      value("log_format", {}, "FORMAT", "text (default) or json, one object a line on stderr"),
      {"plugin_path", {}, OptionKind::many, "DIR", "look for plugins here first; may be repeated"},
      flag("allow_unsafe_plugins", {}, "also load plugins that others may write to"),
  };
}

std::vector<OptionSpec> output_options() {
  return {
      value("output_path", {"o"}, "DIR",
            "folder for results; each run makes a fresh folder inside (default ./ulpscope_out)"),
      flag("exact_output", {}, "write into DIR itself; refused when it holds a result"),
  };
}

std::vector<OptionSpec> dump_options() {
  return {
      value("mode", {"m"}, "SOURCE", "what kind of dump it is; default: found out (auto)"),
      value("step", {}, "LIST", "steps to look at, such as 0,2-5"),
      value("rank", {}, "LIST", "ranks to look at"),
      value("filter", {}, "GLOB", "operations to look at, by name: '*' and '?' are wildcards"),
      {"source_option",
       {},
       OptionKind::many,
       "NAME=VALUE",
       "an option of the source (see plugins show); may be repeated"},
  };
}

Result<SourceOptions> source_options(const ParsedOptions& options, const ScanFilter& filter) {
  SourceOptions found;
  nlohmann::json json = nlohmann::json::object();
  if (!filter.steps.empty()) json["steps"] = filter.steps;
  if (!filter.ranks.empty()) json["ranks"] = filter.ranks;
  for (const std::string& assignment : options.all("source_option")) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error{Code::usage,
                   "option --source-option: '" + printable(assignment) + "', expected NAME=VALUE"};
    found.names.push_back(assignment.substr(0, equals));
    const std::string text = assignment.substr(equals + 1);
    const auto parsed = nlohmann::json::parse(text, nullptr, false);
    json[found.names.back()] = parsed.is_discarded() ? nlohmann::json(text) : parsed;
  }
  found.json = dumped(json);
  return found;
}

Result<ScanFilter> scan_filter(const ParsedOptions& options) {
  ScanFilter filter;
  ULPSCOPE_ASSIGN(filter.steps, options.numbers("step"));
  ULPSCOPE_ASSIGN(filter.ranks, options.numbers("rank"));
  filter.name_glob = options.text_or("filter", "");
  return filter;
}

}  // namespace ulpscope
