// What a command works with: its parsed options, the log, stdout, the workers, the wish to stop, the plugins,
// and what was found unusable on the way. Made once by main for the one command of the process; expensive
// parts are made on first use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/thread_pool.hpp"
#include "cli/command.hpp"
#include "cli/log.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "index/dump_index.hpp"
#include "plugin/registry.hpp"

namespace ulpscope {

// Product version: "0.1.0".
std::string_view product_version();

class Context {
 public:
  Context(Log& log, Output& out, const Cancel& cancel, ParsedOptions options,
          std::vector<std::string> command_line, std::vector<BuiltinPlugin> builtin);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Log& log() { return log_; }
  Output& out() { return out_; }
  const Cancel& cancel() const { return cancel_; }
  const ParsedOptions& options() const { return options_; }
  // argv as it was given, for reports.
  const std::vector<std::string>& command_line() const { return command_line_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  // Workers by --jobs; as many as the machine has threads by default. usage: a wrong number.
  Result<ThreadPool*> pool();
  // Plugins by --plugin-path and the search order; none is loaded before something is asked of it.
  Result<Registry*> registry();
  // What plugins log goes to capture from now on, called from any thread; empty: to the log again.
  void capture_plugin_log(LogFunction capture) { capture_ = std::move(capture); }
  bool quiet() const { return options_.has("quiet"); }
  bool verbose() const { return options_.has("verbose"); }

  // The folder for the results of a command, made now: a fresh one inside --output-path, or that folder
  // itself with
  // --exact-output.
  Result<std::string> make_output_folder(std::string_view command);
  // Opens a dump without scanning it; options_json goes to the source as far as it knows the options. Errors
  // as open_dump.
  Result<SourceHandle> open_source(const std::string& path, const std::string& source_name,
                                   const std::string& options_json);
  // Opens and scans a dump. io: the path does not exist; usage: no source, or no single one, takes it. Name
  // is "auto" or that of a source; the peer's words (atb, offline_data) are understood. Of the options (a
  // JSON object) those reach the source that it knows.
  Result<DumpIndex> open_dump(const std::string& path, const std::string& source_name,
                              const ScanFilter& filter, const std::string& options_json = "{}");
  // The same by the options of dump_options(), all of which the command must have. keep_storage: the
  // option layout=raw for sources that know it. usage: also an option that the source does not have.
  Result<DumpIndex> open_dump(const std::string& path, bool keep_storage = false);
  // What --step, --rank and --filter asked for in vain goes to found as warnings. usage: they leave nothing
  // of a dump that holds something. options_json is what the dump was opened with.
  Status check_filter(const DumpIndex& index, const ScanFilter& filter, const std::string& options_json,
                      Diagnostics& found);
  // usage: an option of names that none of the sources has; it would be dropped without a word.
  Status check_source_options(const std::vector<std::string>& names,
                              const std::vector<std::string>& source_names);
  // Writes what was diagnosed so far to the log, at most most_lines of them, worst first.
  void log_diagnostics(size_t most_lines);

 private:
  Log& log_;
  Output& out_;
  const Cancel& cancel_;
  ParsedOptions options_;
  std::vector<std::string> command_line_;
  std::vector<BuiltinPlugin> builtin_;
  Diagnostics diagnostics_;
  LogFunction capture_;  // set before anything logs, read from any thread
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<HostServices> host_;
  std::unique_ptr<Registry> registry_;
};

// Options that every command has.
std::vector<OptionSpec> common_options();
// -o and --exact-output, for commands that write a folder of results.
std::vector<OptionSpec> output_options();
// --step, --rank, --filter, --mode and --source-option, for commands that read dumps.
std::vector<OptionSpec> dump_options();
// What --source-option says, with steps and ranks of the filter, as the JSON object that sources take.
struct SourceOptions {
  std::string json = "{}";
  std::vector<std::string> names;  // of --source-option, in the order given
};
// usage: an option without '='.
Result<SourceOptions> source_options(const ParsedOptions& options, const ScanFilter& filter);
// Those three lists of dump_options as a filter of the scan. usage: malformed.
Result<ScanFilter> scan_filter(const ParsedOptions& options);

}  // namespace ulpscope
