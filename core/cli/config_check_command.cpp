#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/text.hpp"
#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "config_check/collect.hpp"
#include "config_check/config_check.hpp"
#include "config_check/config_report.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostDiagnostics = 20;
constexpr uint64_t kProgressFromBytes = uint64_t{1} << 30;

struct InputOption {
  const char *word, *value_name, *doc;
};
constexpr InputOption kInputs[] = {
    {"env", "FILE", "output of env, export -p or declare -x"},
    {"pip", "FILE", "output of pip list or pip freeze"},
    {"launch", "FILE", "launch script"},
    {"log", "FILE", "log of vLLM"},
    {"model_config", "FILE", "print of ModelConfig"},
    {"model", "DIR", "folder of the model"},
    {"mindie_config", "FILE", "service config of MindIE"},
    {"mindie_log", "FILE", "log of MindIE"},
    {"versions", "FILE", "version.info of Ascend"},
};

// "model_config" as the bundle's word "model-config".
std::string bundle_word(std::string option) {
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

Result<Bundle> open_side(Context& context, const std::string& side) {
  const ParsedOptions& options = context.options();
  BundleFiles files;
  std::string bundle_json;
  if (const auto folder = options.text(side)) {
    ULPSCOPE_ASSIGN(files, find_bundle_files(*folder, context.diagnostics()));
    std::error_code failed;
    if (std::filesystem::exists(*folder + "/bundle.json", failed)) bundle_json = *folder + "/bundle.json";
  }
  for (const InputOption& input : kInputs)
    if (const auto path = options.text(side + "_" + input.word)) files[bundle_word(input.word)] = *path;
  if (files.empty())
    return Error{options.has(side) ? Code::io : Code::usage,
                 options.has(side) ? printable(*options.text(side)) +
                                         ": none of the files of a bundle is there "
                                         "(env.txt, pip.txt, launch.sh, model/ …)"
                                   : "the " + side + " side is missing: --" + side +
                                         " DIR, or single files such as --" + side + "-env FILE"};
  return read_bundle(side, files, bundle_json, context.diagnostics());
}

std::string side_line(const Bundle& bundle, const std::optional<std::string>& folder) {
  std::string line = bundle.name + (bundle.name == "golden" ? "   " : "  ");
  line += printable(folder.value_or("(single files)"));
  if (!bundle.device.empty()) line += "   " + bundle.device;
  if (!bundle.vllm_version.empty()) line += "   vllm " + printable(bundle.vllm_version);
  return line + "\n";
}

std::string result_text(const ConfigCheckResult& result, const std::string& head, size_t limit) {
  std::string text = head + "\n";
  ColumnTable table({"severity", "section", "key", "golden", "problem", "why"}, std::vector<bool>(6, false));
  for (const ConfigRow& row : result.rows)
    table.add({std::string(to_text(row.severity)), row.section, row.key, config_cell(row.golden),
               config_cell(row.problem), row.why});
  if (!table.empty()) text += table.text(limit) + "\n";
  text += "verdict " + result.verdict() + "   error " + std::to_string(result.counts[0]) + "   warning " +
          std::to_string(result.counts[1]) + "   info " + std::to_string(result.counts[2]) + "\n";
  if (result.counts[0] > 0) text += "put the errors right, or explain them, before a dump is taken\n";
  return text;
}

Result<WeightsMode> weights_mode(const ParsedOptions& options) {
  ULPSCOPE_ASSIGN(const std::string word, options.choice("weights", {"full", "header", "none"}));
  return word == "full" ? WeightsMode::full : word == "header" ? WeightsMode::header : WeightsMode::none;
}

Result<ExitCode> compare(Context& context) {
  const ParsedOptions& options = context.options();
  ULPSCOPE_ASSIGN(const std::string format, options.choice("format", {"text", "json", "csv", "md"}));
  ConfigCheckOptions wanted;
  wanted.require_deterministic = options.has("require_deterministic");
  wanted.all_variables = options.has("all");
  ULPSCOPE_ASSIGN(wanted.weights, weights_mode(options));
  ULPSCOPE_ASSIGN(Catalogue catalogue, Catalogue::builtin());
  for (const std::string& path : options.all("catalogue")) ULPSCOPE_TRY(catalogue.extend(path));
  ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
  ULPSCOPE_ASSIGN(const Bundle golden, open_side(context, "golden"));
  ULPSCOPE_ASSIGN(const Bundle problem, open_side(context, "problem"));
  std::optional<Progress> progress;
  ConfigCheckRun run{golden, problem, catalogue, wanted, context.diagnostics(), *pool, context.cancel()};
  run.expect_bytes = [&](const char* what, uint64_t bytes) {
    progress.reset();
    if (bytes > kProgressFromBytes)
      progress.emplace(Progress::style_for_stderr(context.quiet()), what, "pieces",
                       static_cast<int64_t>(bytes >> 20), bytes);
  };
  run.read_bytes = [&](uint64_t bytes) {
    if (progress) progress->add(1, bytes);
  };
  const ConfigCheckResult result = config_check(std::move(run));
  progress.reset();
  context.log_diagnostics(kMostDiagnostics);
  const std::string head =
      side_line(golden, options.text("golden")) + side_line(problem, options.text("problem"));
  Answer answer{"config_check", result_text(result, head, 0), config_check_json(result), ""};
  if (format == "text") answer.shown = result_text(result, head, line_limit());
  if (format == "csv") answer.shown = config_check_csv(result);
  if (format == "md") answer.shown = config_check_markdown(result);
  ULPSCOPE_TRY(give_answer(context, answer, format));
  const int64_t judged = result.counts[0] + (options.has("strict") ? result.counts[1] : 0);
  if (result.compared_sections == 0)
    context.log().error(
        "config-check: nothing could be compared: the sides have no readable input in common");
  if (judged > 0) return ExitCode::finding;
  return result.is_complete ? ExitCode::success : ExitCode::unreadable;
}

Result<ExitCode> collect(Context& context) {
  const ParsedOptions& options = context.options();
  CollectRequest request;
  if (!options.has("output_path"))
    return Error{Code::usage, "the folder of the bundle is missing: config-check collect -o DIR"};
  request.folder = *options.text("output_path");
  request.model = options.text_or("model", "");
  request.launch = options.text_or("launch", "");
  request.log = options.text_or("log", "");
  request.python = options.text_or("python", "python3");
  ULPSCOPE_ASSIGN(const WeightsMode mode, weights_mode(options));
  request.hash_weights = mode == WeightsMode::full;
  ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
  ULPSCOPE_ASSIGN(const auto files, collect_bundle(request, *pool, context.cancel(), context.diagnostics()));
  context.log_diagnostics(kMostDiagnostics);
  for (const std::string& name : files) context.out().line(printable(request.folder + "/" + name));
  return ExitCode::success;
}

class ConfigCheckCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "config-check";
    info.aliases = {"config_check"};
    info.group = CommandGroup::incident;
    info.summary = "Compares the configuration of two runs";
    info.synopsis = "--golden DIR --problem DIR | collect -o DIR";
    info.description =
        "Compares environment, packages, launch options, engine prints, sampling parameters, model files and "
        "weights of two runs, and says which differences can change tokens. A side is a folder (a bundle: "
        "env.txt, pip.txt, launch.sh, server.log, model_config.txt, model/, mindie_config.json, "
        "version.info) or "
        "single files. 'collect' makes such a folder of this machine. Secrets are never shown. Exit code 1 "
        "when an "
        "error was found.";
    info.example = "ulpscope config-check --golden bundle_gpu --problem bundle_npu";
    info.max_positional = 1;
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> specs = {
        {"golden", {}, OptionKind::value, "DIR", "bundle of the run that is right"},
        {"problem", {}, OptionKind::value, "DIR", "bundle of the run that is wrong"},
        {"require_deterministic", {}, OptionKind::flag, "", "an NPU that may not repeat itself is an error"},
        {"all", {}, OptionKind::flag, "", "also list environment variables that no list names"},
        {"strict", {}, OptionKind::flag, "", "exit code 1 for warnings too"},
        {"weights",
         {},
         OptionKind::value,
         "HOW",
         "full (default: every byte), header (names, shapes, dtypes), none"},
        {"catalogue",
         {},
         OptionKind::many,
         "FILE",
         "severities of your own, which win (docs/config-check.md)"},
        {"format", {}, OptionKind::value, "FORMAT", "text (default), json, csv or md"}};
    for (const char* side : {"golden", "problem"})
      for (const InputOption& input : kInputs)
        specs.push_back({std::string(side) + "_" + input.word,
                         {},
                         OptionKind::value,
                         input.value_name,
                         std::string(input.doc) + " of the " + side + " side"});
    specs.push_back({"model", {}, OptionKind::value, "DIR", "collect: folder of the model"});
    specs.push_back({"launch", {}, OptionKind::value, "FILE", "collect: launch script"});
    specs.push_back({"log", {}, OptionKind::value, "FILE", "collect: log of the server"});
    specs.push_back({"python", {}, OptionKind::value, "PROGRAM", "collect: the Python whose packages count"});
    return specs;
  }

  Result<ExitCode> run(Context& context) override {
    const auto& words = context.options().positional();
    if (words.empty()) return compare(context);
    if (words[0] == "collect") return collect(context);
    return Error{Code::usage,
                 "unexpected argument '" + printable(words[0]) + "', expected collect or nothing"};
  }
};

}  // namespace

std::unique_ptr<Command> make_config_check_command() { return std::make_unique<ConfigCheckCommand>(); }

}  // namespace ulpscope
