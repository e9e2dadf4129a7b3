#include "cli/compare_request.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/text.hpp"
#include "cli/context.hpp"
#include "cli/policy_options.hpp"
#include "report/metrics.hpp"

namespace ulpscope {
namespace {

OptionSpec flag(std::string name, std::vector<std::string> shorts, std::string doc) {
  return {std::move(name), std::move(shorts), OptionKind::flag, "", std::move(doc)};
}
OptionSpec value(std::string name, std::vector<std::string> shorts, std::string value_name, std::string doc) {
  return {std::move(name), std::move(shorts), OptionKind::value, std::move(value_name), std::move(doc)};
}
OptionSpec optional(std::string name, std::vector<std::string> shorts, std::string value_name,
                    std::string doc) {
  return {std::move(name), std::move(shorts), OptionKind::optional, std::move(value_name), std::move(doc)};
}

// "64M", "1.5GiB", "200000" in bytes.
Result<uint64_t> parse_size(const std::string& text) {
  const size_t unit_at = text.find_first_not_of("0123456789.");
  const auto number = parse_double(std::string_view(text).substr(0, unit_at));
  std::string unit = unit_at == std::string::npos ? "" : to_lower(text.substr(unit_at));
  if (unit.size() > 1 && unit.back() == 'b') unit.pop_back();
  const bool binary = unit.size() == 2 && unit[1] == 'i';
  const double step = binary ? 1024 : 1000;
  const size_t power = std::string_view("bkmgt").find(unit.empty() ? 'b' : unit[0]);
  if (!number || !(*number > 0) || power == std::string_view::npos || unit.size() > (binary ? 2U : 1U))
    return Error{Code::usage,
                 "option --memory: '" + printable(text) + "', expected a size such as 512M or 2GiB"};
  const double size = *number * std::pow(step, static_cast<double>(power));
  if (!(size < 1e18)) return Error{Code::usage, "option --memory: '" + printable(text) + "' is too large"};
  return static_cast<uint64_t>(size);
}

Status read_paths(const ParsedOptions& options, CompareRequest& request) {
  const auto& words = options.positional();
  request.target_path = options.text_or("target_path", words.empty() ? "" : words[0]);
  request.golden_path = options.text_or("golden_path", words.size() > 1 ? words[1] : "");
  const bool named = options.has("target_path") || options.has("golden_path");
  if (named && !words.empty())
    return Error{Code::usage, "give the dumps either as TARGET GOLDEN or with -tp and -gp, not both"};
  if (request.target_path.empty() || request.golden_path.empty())
    return Error{Code::usage, request.target_path.empty()
                                  ? "the target is missing: ulpscope compare TARGET GOLDEN"
                                  : "the golden is missing: ulpscope compare TARGET GOLDEN"};
  return {};
}

Status read_sources(const ParsedOptions& options, CompareRequest& request) {
  const std::string mode = options.text_or("mode", "auto");
  request.target_source = options.text_or("target_source", mode);
  // An offline model's golden is a dump too, or a folder of arrays: the mode says what the target is.
  const bool offline = mode == "acl_om" || mode == "offline_data";
  request.golden_source = options.text_or("golden_source", offline ? "auto" : mode);
  ULPSCOPE_ASSIGN(request.filter, scan_filter(options));
  request.target_fusion = options.text_or("fusion_rule_file", "");
  request.golden_fusion = options.text_or("close_fusion_rule_file", "");
  ULPSCOPE_ASSIGN(SourceOptions wanted, source_options(options, request.filter));
  request.source_options = std::move(wanted.json);
  request.source_option_names = std::move(wanted.names);
  return {};
}

// The word after a mapping option is its file; where that is a dump, the dumps are one too few.
Status refuse_folders_as_mapping(const ParsedOptions& options) {
  for (const char* name : {"data_mapping", "cell_mapping", "api_mapping", "layer_mapping", "mapping"}) {
    const std::string file = options.text_or(name, "");
    std::error_code ignored;
    if (file.empty() || !std::filesystem::is_directory(file, ignored)) continue;
    const bool may_lack = std::string_view(name) == "cell_mapping";
    return Error{Code::usage,
                 "option --" + std::string(name) + ": " + printable(file) + " is a folder, expected a file" +
                     (may_lack ? "; to pair modules without one put the option behind the dumps" : "")};
  }
  return {};
}

Status read_mapping(const ParsedOptions& options, CompareRequest& request) {
  using Loader = Status (*)(const std::string&, Mapping&);
  const std::pair<const char*, Loader> kFiles[] = {{"data_mapping", load_data_mapping},
                                                   {"cell_mapping", load_cell_mapping},
                                                   {"api_mapping", load_api_mapping},
                                                   {"layer_mapping", load_layer_mapping},
                                                   {"mapping", load_mapping}};
  for (const auto& [name, load] : kFiles) {
    if (!options.has(name)) continue;
    request.has_mapping = true;
    const std::string file = options.text_or(name, "");
    if (file.empty()) {
      request.mapping.cell_to_module |= std::string_view(name) == "cell_mapping";
      continue;
    }
    // A mapping that cannot be read is a mistake of the command, as one that says nonsense is.
    if (const Status loaded = load(file, request.mapping); !loaded.ok())
      return Error{Code::usage, loaded.error().message}.within("option --" + std::string(name));
  }
  request.fuzzy = options.has("fuzzy_match");
  if (options.has("consistent_check")) {
    if (!options.has("backend"))
      return Error{Code::usage, "--consistent-check needs --backend fsdp or --backend megatron"};
    ULPSCOPE_ASSIGN(request.merge_backend, options.choice("backend", {"fsdp", "megatron"}));
  } else if (options.has("backend")) {
    return Error{Code::usage, "--backend belongs to --consistent-check"};
  }
  return {};
}

Status read_metrics(const ParsedOptions& options, MeasureOptions& measure) {
  constexpr std::pair<std::string_view, uint32_t> kGroups[] = {{"max_rel_err", kGroupRelative},
                                                               {"mean_rel_err", kGroupRelative},
                                                               {"within_1e-2", kGroupRelative},
                                                               {"within_1e-4", kGroupRelative},
                                                               {"max_ulp", kGroupUlp},
                                                               {"mean_ulp", kGroupUlp},
                                                               {"ulp_over_threshold_rate", kGroupUlp}};
  measure.groups = kGroupDefault | kGroupRelative;
  const std::string list = options.text_or("metrics", "");
  if (list.empty()) return {};
  for (const std::string_view word : split(list, ',')) {
    if (word == "all") {
      measure.groups |= kGroupRelative | kGroupUlp;
      measure.groups_for_large = measure.detail_for_all = measure.distributions = true;
      continue;
    }
    if (word == "kl_divergence" || word == "acc_rel_err" || word == "target_std" || word == "golden_std") {
      measure.groups_for_large = measure.distributions = true;
      continue;
    }
    if (word.substr(0, 9) == "abs_err_p") {
      measure.detail_for_all = true;
      continue;
    }
    const auto found =
        std::find_if(std::begin(kGroups), std::end(kGroups), [&](const auto& g) { return g.first == word; });
    if (found != std::end(kGroups)) {
      measure.groups |= found->second;
      measure.groups_for_large = true;
      continue;
    }
    std::vector<std::string> known;
    for (const MetricColumn& column : metric_columns()) known.emplace_back(column.name);
    if (std::find(known.begin(), known.end(), word) == known.end())
      return Error{Code::usage,
                   "option --metrics: unknown metric '" + printable(word) + "'" + suggestion(word, known)};
  }
  return {};
}

Status read_measure(const ParsedOptions& options, CompareRequest& request) {
  ULPSCOPE_ASSIGN(const std::string data, options.choice("data", {"auto", "data", "statistics", "digest"}));
  request.measure.data = data == "data"         ? DataChoice::data
                         : data == "statistics" ? DataChoice::statistics
                         : data == "digest"     ? DataChoice::digest
                                                : DataChoice::best;
  if (const auto memory = options.text("memory")) {
    ULPSCOPE_ASSIGN(request.measure.memory_limit_bytes, parse_size(*memory));
  }
  return read_metrics(options, request.measure);
}

Status read_report(const ParsedOptions& options, const std::string& version, CompareRequest& request) {
  request.report.version = version;
  if (const auto formats = options.text("format")) {
    ULPSCOPE_ASSIGN(request.report.formats, parse_formats(*formats));
  }
  if (const auto language = options.text("lang")) {
    ULPSCOPE_ASSIGN(request.report.language, parse_language(*language));
  }
  const auto& formats = request.report.formats;
  if (options.has("xlsx") && std::find(formats.begin(), formats.end(), ReportFormat::xlsx) == formats.end())
    request.report.formats.push_back(ReportFormat::xlsx);
  if (const auto columns = options.text("columns")) {
    ULPSCOPE_ASSIGN(request.report.columns, parse_columns(*columns));
  }
  request.report.peer_columns = {options.has("op_sequence"), options.has("overflow_detection")};
  request.measure.peer_metrics = request.report.columns == TableColumns::msprobe;
  request.json_to_stdout = options.text_or("output_path", "") == "-";
  if (request.json_to_stdout && (formats.size() != 1 || formats[0] != ReportFormat::json))
    return Error{Code::usage, "-o - prints the JSON result: give --format json with it"};
  ULPSCOPE_ASSIGN(const std::string fail_on, options.choice("fail_on", {"fail", "warning", "never"}));
  request.strict = options.has("strict");
  if (request.strict && options.has("fail_on"))
    return Error{Code::usage, "--strict is --fail-on warning and more: give one of them"};
  request.fail_on = request.strict || fail_on == "warning" ? FailOn::warning
                    : fail_on == "never"                   ? FailOn::never
                                                           : FailOn::fail;
  request.baseline_path = options.text_or("baseline", "");
  request.noise_path = options.text_or("noise", "");
  request.resume_folder = options.text_or("resume", "");
  request.explain_glob = options.text_or("explain", "");
  request.replay = options.has("replay");
  return {};
}

Status read_judgements(const ParsedOptions& options, CompareRequest& request) {
  request.reference_path = options.text_or("reference_path", "");
  request.has_policy = options.has("policy") || options.has("profile") || !request.reference_path.empty();
  if (const auto list = options.text("judge")) {
    if (options.has("policy") || options.has("profile"))
      return Error{Code::usage, "--judge leaves nothing to a policy: give one of them"};
    for (const std::string_view name : split(*list, ',')) {
      if (name.empty()) return Error{Code::usage, "option --judge: expected names with commas between"};
      request.forced_judgements.emplace_back(name);
    }
    request.has_policy = false;
  }
  // What a judgement finds is looked at closely in every row that differs.
  if (request.has_policy || !request.forced_judgements.empty()) request.measure.detail_for_all = true;
  return {};
}

}  // namespace

std::vector<OptionSpec> compare_options() {
  std::vector<OptionSpec> specs = {
      value("target_path", {"tp"}, "DUMP", "the run under suspicion (or as the first argument)"),
      value("golden_path", {"gp"}, "DUMP", "the run taken as right (or as the second argument)"),
      value("reference_path", {"rp"}, "DUMP",
            "the same run on a device to be held against: three-way judgement"),
      value("judge", {}, "NAMES",
            "judge every tensor by these judgements (plugins list), with commas between"),
      value("target_source", {}, "SOURCE", "kind of the target, when it is not that of --mode"),
      value("golden_source", {}, "SOURCE", "kind of the golden, when it is not that of --mode"),
      value("fusion_rule_file", {"fr", "f"}, "FILE",
            "compiled model of the target as json; default: looked for"),
      value("close_fusion_rule_file", {"cfr", "cf"}, "FILE",
            "compiled model of the golden as json; default: looked for"),
      value("data", {}, "KIND", "data, statistics or digest; default: the best that both sides offer"),
      value("data_mapping", {"dm"}, "FILE", "row names of the target and what they are called in golden"),
      optional("cell_mapping", {"cm"}, "FILE",
               "module names of the target and what they are called in golden"),
      value("api_mapping", {"am"}, "FILE", "APIs of the target and their arguments in golden"),
      value("layer_mapping", {"lm"}, "FILE", "children of module classes and what they are called in golden"),
      value("mapping", {}, "FILE", "rules with patterns for operations and tensors (docs/mapping.md)"),
      flag("fuzzy_match", {"fm"}, "pair calls without looking at their numbers"),
      flag("consistent_check", {}, "training (target) against inference: joins merged projections"),
      value("backend", {}, "NAME", "of the training run: fsdp or megatron"),
      value("metrics", {}, "LIST", "more metrics (names of the result), or all"),
      value("format", {}, "LIST", "any of json,csv,xlsx,html,md,sqlite,junit (default json,csv,html)"),
      value("lang", {}, "WORD", "language that report.html starts in: en (default) or zh"),
      value("columns", {}, "WORD", "full (default) or msprobe: its columns and number formats in the CSV"),
      flag("op_sequence", {}, "with --columns msprobe, of an offline model: the column OpSequence"),
      flag("overflow_detection", {}, "with --columns msprobe, of an offline model: the column OverFlow"),
      value("fail_on", {}, "VERDICT", "fail (default), warning or never: what makes the exit code 1"),
      flag("strict", {}, "--fail-on warning, and unmatched rows fail too"),
      value("noise", {}, "GOLDEN2", "a second golden run: what differs between the two is no fault"),
      value("baseline", {}, "FILE", "accepted differences with their reasons (docs/compare.md)"),
      value("memory", {}, "SIZE", "cap of the read buffers, such as 64M"),
      value("resume", {}, "DIR", "go on with the folder of a run that was stopped"),
      value("explain", {}, "OP", "print the numbers that decided on these operations (name or pattern)"),
      flag("replay", {}, "run the operations at fault again in float64 and say which side is off"),
      flag("diff_analyze", {"da"}, "accepted: the fault is always looked for"),
      flag("xlsx", {}, "also write a spreadsheet"),
      flag("is_print_compare_log", {"tensor_log"}, "accepted: same as --verbose"),
  };
  for (OptionSpec& spec : policy_options()) specs.push_back(std::move(spec));
  for (OptionSpec& spec : dump_options()) specs.push_back(std::move(spec));
  return specs;
}

Result<CompareRequest> read_compare_request(const ParsedOptions& options, const std::string& version) {
  CompareRequest request;
  ULPSCOPE_TRY(refuse_folders_as_mapping(options));
  ULPSCOPE_TRY(read_paths(options, request));
  ULPSCOPE_TRY(read_sources(options, request));
  ULPSCOPE_TRY(read_mapping(options, request));
  ULPSCOPE_TRY(read_measure(options, request));
  ULPSCOPE_TRY(read_report(options, version, request));
  ULPSCOPE_TRY(read_judgements(options, request));
  request.identity = request.source_options + "|" + request.target_source + "|" + request.golden_source +
                     "|" + request.filter.name_glob + "|" + options.text_or("data", "") + "|" +
                     std::to_string(request.measure.groups) + (request.measure.groups_for_large ? "+" : "") +
                     (request.measure.peer_metrics ? "|peer" : "");
  for (const char* name :
       {"data_mapping", "cell_mapping", "api_mapping", "layer_mapping", "mapping", "backend",
        "fusion_rule_file", "close_fusion_rule_file", "judge", "profile", "reference_path"})
    request.identity += "|" + options.text_or(name, "");
  return request;
}

}  // namespace ulpscope
