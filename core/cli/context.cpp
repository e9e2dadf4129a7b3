#include "cli/context.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include "base/text.hpp"
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
        *workers, cancel_, [this](LogLevel level, std::string_view text) { log_.write(level, text); },
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
  // A path that is not there is missing input; asked for their opinion, the sources would only say "not
  // mine".
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0)
    return Error{Code::io, printable(path) + ": " + std::generic_category().message(errno)};
  ULPSCOPE_ASSIGN(Registry * plugins, registry());
  return plugins->open_source(source_of_mode(source_name), path, options_json);
}

Result<DumpIndex> Context::open_dump(const std::string& path, const std::string& source_name,
                                     const ScanFilter& filter, const std::string& options_json) {
  ULPSCOPE_ASSIGN(SourceHandle source, open_source(path, source_name, options_json));
  return DumpIndex::build(std::move(source), filter, diagnostics_, cancel_);
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
  };
}

Result<ScanFilter> scan_filter(const ParsedOptions& options) {
  ScanFilter filter;
  ULPSCOPE_ASSIGN(filter.steps, options.numbers("step"));
  ULPSCOPE_ASSIGN(filter.ranks, options.numbers("rank"));
  filter.name_glob = options.text_or("filter", "");
  return filter;
}

}  // namespace ulpscope
