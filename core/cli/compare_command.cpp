#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/folder.hpp"
#include "base/stray_output.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/compare_judge.hpp"
#include "cli/compare_replay.hpp"
#include "cli/compare_request.hpp"
#include "cli/context.hpp"
#include "cli/progress.hpp"
#include "index/known_sources.hpp"
#include "locate/localise.hpp"
#include "match/matcher.hpp"
#include "measure/baseline.hpp"
#include "measure/error_places.hpp"
#include "measure/journal.hpp"
#include "measure/measure.hpp"
#include "measure/tie_check.hpp"
#include "report/output_folder.hpp"
#include "report/table_view.hpp"
#include "report/terminal.hpp"
#include "report/writer.hpp"

namespace ulpscope {
namespace {

// Shows the measuring on stderr while it runs.
class MeasureProgress final : public MeasureListener {
 public:
  explicit MeasureProgress(bool quiet) : style_(Progress::style_for_stderr(quiet)) {}
  void planned(int64_t pairs, uint64_t bytes) override {
    if (pairs > 0) progress_.emplace(style_, "measuring", "pairs", pairs, bytes);
  }
  void advanced(int64_t pairs, uint64_t bytes) override {
    if (progress_) progress_->add(pairs, bytes);
  }

 private:
  Progress::Style style_;
  std::optional<Progress> progress_;
};

struct Sides {
  std::optional<DumpIndex> target, golden, reference;
};

// The options of one side: those of both, the json of its compiled model, and the golden whose shapes may
// tell what its dump does not.
std::string with_own(const std::string& options, const std::string& fusion, const std::string& golden) {
  if (fusion.empty() && golden.empty()) return options;
  nlohmann::json json = nlohmann::json::parse(options, nullptr, false);
  if (!fusion.empty()) json["fusion"] = fusion;
  if (!golden.empty()) json["golden"] = golden;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Folders of steps and ranks that are there, of which the index holds nothing although the other side has
// data of them: a part of the dump that was lost. Steps and ranks that are not there at all are no loss.
std::set<std::string> lost_folders(const DumpIndex& index, const DumpIndex& other) {
  std::set<std::string> lost;
  if (!has_api_calls(index.source_name())) return lost;
  const auto has = [&](int32_t step, std::optional<int32_t> rank) {
    return std::any_of(index.groups().begin(), index.groups().end(), [&](const StepRank& group) {
      return (step < 0 || group.step == step) && (!rank || group.rank == *rank);
    });
  };
  for (const StepRank& group : other.groups()) {
    const std::string step = fmt::format("{}/step{}", index.path(), group.step);
    const std::string rank = fmt::format("/rank{}", group.rank);
    const std::string inside = step + rank, directly = index.path() + rank;
    if (group.step >= 0 && !has(group.step, {}) && entry_kind(step))
      lost.insert(step);
    else if (group.rank >= 0 && !has(group.step, group.rank) && entry_kind(inside))
      lost.insert(inside);
    else if (group.rank >= 0 && !has(-1, group.rank) && entry_kind(directly))
      lost.insert(directly);
  }
  return lost;
}

// Opens one after the other, since plugins are loaded on the way, and scans all at the same time.
Result<Sides> open_sides(Context& context, const CompareRequest& request, Diagnostics& all) {
  struct Side {
    const char* word;
    const std::string& path;
    const std::string& source;
    const std::string& fusion;
    std::optional<SourceHandle> handle;
    Diagnostics found;
    std::optional<Result<DumpIndex>> index;
  };
  Side sides[] = {
      {"target", request.target_path, request.target_source, request.target_fusion, {}, {}, {}},
      {"golden", request.golden_path, request.golden_source, request.golden_fusion, {}, {}, {}},
      {"reference", request.reference_path, request.target_source, request.target_fusion, {}, {}, {}}};
  const std::span<Side> used(sides, request.reference_path.empty() ? 2 : 3);
  ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
  for (Side& side : used) {
    const bool is_golden = &side == &sides[1];
    auto handle = context.open_source(
        side.path, side.source,
        with_own(request.source_options, side.fusion, is_golden ? std::string() : request.golden_path));
    if (!handle.ok()) return std::move(handle).error().within(side.word);
    side.handle = std::move(handle).value();
  }
  ULPSCOPE_TRY(context.check_source_options(
      request.source_option_names,
      {std::string(sides[0].handle->source_name()), std::string(sides[1].handle->source_name())}));
  pool->parallel_for(static_cast<int64_t>(used.size()), [&](int64_t i, int) {
    Side& side = used[static_cast<size_t>(i)];
    side.index.emplace(
        DumpIndex::build(*std::move(side.handle), request.filter, side.found, context.cancel()));
  });
  for (Side& side : used) {
    const auto& other = &side == &sides[1] ? sides[0].index : sides[1].index;
    if (side.index->ok() && other->ok())
      for (const std::string& lost : lost_folders(**side.index, **other))
        all.add({Severity::error, Code::io, std::string(side.word) + ": " + lost,
                 std::string("holds nothing that can be read, where the ") +
                     (&side == &sides[1] ? "target" : "golden") + " has data"});
    for (Diagnostic& diagnostic : side.found.kept()) {
      diagnostic.where = std::string(side.word) + ": " + diagnostic.where;
      all.add(std::move(diagnostic));
    }
    if (!side.index->ok()) return std::move(*side.index).error().within(side.word);
    Diagnostics unmet;
    Status checked = context.check_filter(**side.index, request.filter,
                                          with_own(request.source_options, side.fusion, ""), unmet);
    if (!checked.ok()) return std::move(checked).error().within(side.word);
    for (Diagnostic& each : unmet.kept()) {
      each.where = side.word;
      all.add(std::move(each));
    }
  }
  Sides out;
  out.target.emplace(std::move(*sides[0].index).value());
  out.golden.emplace(std::move(*sides[1].index).value());
  if (sides[2].index) out.reference.emplace(std::move(*sides[2].index).value());
  return out;
}

// The options of the run that a journal belongs to.
Result<ParsedOptions> parse_stored(const std::vector<std::string>& words) {
  std::vector<OptionSpec> specs = compare_options();
  for (const auto& more : {common_options(), output_options()})
    specs.insert(specs.end(), more.begin(), more.end());
  std::vector<std::string> arguments;
  bool named = false;
  for (const std::string& word : words) {
    if (!named && word == "compare")
      named = true;
    else
      arguments.push_back(word);
  }
  return parse_options(specs, arguments, 2);
}

// Whether there are pairs of tensors and none of them could be compared: arguments that agree prove nothing.
bool lacks_every_tensor(const ResultTable& table) {
  bool has_tensors = false;
  for (const ResultRow& row : table.rows) {
    if (row.pair.target == kNoIndex || row.pair.golden == kNoIndex || row.mode == Mode::value) continue;
    has_tensors = true;
    if (row.judged != Verdict::skip) return false;
  }
  return has_tensors;
}

// The exit code, by what counts and what was asked for.
ExitCode decide(const ResultTable& table, const Summary& summary, const CompareRequest& request,
                int64_t input_errors) {
  const bool unmatched = summary.only_target + summary.only_golden > 0;
  const bool failed = (request.fail_on != FailOn::never && summary.fail > 0) ||
                      (request.fail_on == FailOn::warning && summary.warning > 0) ||
                      (request.strict && unmatched);
  if (failed) return ExitCode::finding;
  const bool nothing = summary.pass + summary.warning + summary.fail == 0 || lacks_every_tensor(table);
  return summary.unreadable > 0 || input_errors > 0 || nothing ? ExitCode::unreadable : ExitCode::success;
}

class CompareCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "compare";
    info.group = CommandGroup::compare;
    info.summary = "Compares two dumps and names the operation at fault";
    info.synopsis = "TARGET GOLDEN";
    info.description =
        "TARGET is the run under suspicion, GOLDEN the one taken as right. Each is a dump at any level: the "
        "folder that "
        "holds step*, a step, a rank, a dump.json, or tensor files (.npy, .pt, .safetensors). The answer "
        "goes to stdout, "
        "tables go to a fresh folder. Exit code 0: nothing failed; 1: something failed; 3: something could "
        "not be read.";
    info.example = "ulpscope compare dump_npu dump_gpu -o results";
    info.max_positional = 2;
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override { return compare_options(); }

  Result<ExitCode> run(Context& context) override {
    const std::string resumed = context.options().text_or("resume", "");
    const bool names_dumps = !context.options().positional().empty() || context.options().has("target_path");
    ParsedOptions options = context.options();
    if (!resumed.empty() && !names_dumps) {
      ULPSCOPE_ASSIGN(const JournalHeader header, Journal::read_header(resumed));
      ULPSCOPE_ASSIGN(options, parse_stored(header.command));
    }
    ULPSCOPE_ASSIGN(CompareRequest request, read_compare_request(options, std::string(product_version())));
    request.resume_folder = resumed;
    return compare(context, request, options, context.command_line());
  }

 private:
  static Result<ExitCode> compare(Context& context, const CompareRequest& request,
                                  const ParsedOptions& options, std::vector<std::string> command) {
    ULPSCOPE_TRY(check_memory(context, request.measure.memory_limit_bytes));
    auto accepted = load_baseline(request.baseline_path);
    if (!accepted.ok()) return Error{Code::usage, "--baseline: " + accepted.error().message};
    const Baseline baseline = std::move(accepted).value();
    Diagnostics diagnostics;
    ULPSCOPE_ASSIGN(const Sides sides, open_sides(context, request, diagnostics));
    ULPSCOPE_ASSIGN(CompareJudge judge, CompareJudge::create(context, request, options));
    ResultTable table;
    table.target = &*sides.target;
    table.golden = &*sides.golden;
    table.judgements = {"similarity"};
    table.judgement_columns.resize(1);
    ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
    const MatchOptions match_options{request.fuzzy, request.has_mapping ? &request.mapping : nullptr,
                                     request.merge_backend, pool};
    ULPSCOPE_ASSIGN(table.pairs, match(*sides.target, *sides.golden, match_options));
    judge.describe(table);
    if (table.pairs.items.empty() && table.pairs.ops.empty())
      return Error{Code::io, "neither dump holds a record (steps, ranks and filter considered)"};

    const int64_t input_errors = diagnostics.count(Severity::error);
    std::string folder;
    std::optional<Journal> journal;
    if (!request.json_to_stdout) {
      ULPSCOPE_TRY(open_folder(context, request, table, judge, command, folder, journal));
    }
    table.command = std::move(command);
    {
      MeasureProgress progress(context.quiet());
      MeasureOptions measure_options = request.measure;
      measure_options.judge = judge.start(table, sides.reference.has_value());
      const Status measured = measure(table, measure_options, *pool, context.cancel(), diagnostics,
                                      journal ? &*journal : nullptr, &progress);
      if (!measured.ok()) return stopped(context, measured.error(), folder);
      const Status judged = judge.finish(table, sides.reference ? &*sides.reference : nullptr, match_options,
                                         request.measure, context, diagnostics);
      if (!judged.ok()) return stopped(context, judged.error(), folder);
    }
    ULPSCOPE_ASSIGN(Priors priors, load_priors());
    NoiseFloor noise;
    if (!request.noise_path.empty()) {
      ULPSCOPE_ASSIGN(noise, measure_noise(context, request, *sides.golden, diagnostics));
    }
    LocaliseOptions locate_options{std::move(priors),   true, nullptr, {}, input_errors > 0,
                                   request.explain_glob};
    if (!request.noise_path.empty()) locate_options.noise = &noise;
    localise(table, locate_options, *pool);
    for (const int64_t row : table.localisation.assumed_ties)
      if (tie_of(table, row, context.cancel()) == Tie::not_tied) locate_options.not_tied.push_back(row);
    for (const int64_t row : table.localisation.claimed_ties)
      if (tie_of(table, row, context.cancel()) != Tie::tied) locate_options.not_tied.push_back(row);
    if (!locate_options.not_tied.empty()) localise(table, locate_options, *pool);
    std::vector<int64_t> ties = table.localisation.assumed_ties;
    ties.insert(ties.end(), table.localisation.claimed_ties.begin(), table.localisation.claimed_ties.end());
    add_tie_texts(table, ties, context.cancel());
    add_error_places(table, context.cancel());
    if (request.replay) ULPSCOPE_TRY(add_replays(context, table));
    for (const std::string& unused : apply_baseline(table, baseline)) context.log().warning(unused);
    table.diagnostics = diagnostics.kept();
    table.diagnostic_count = diagnostics.count();
    return report(context, request, table, folder, input_errors);
  }

  static Status check_memory(Context& context, uint64_t limit_bytes) {
    ULPSCOPE_ASSIGN(const ThreadPool* pool, context.pool());
    const uint64_t least = kLeastMemoryBytes * static_cast<uint64_t>(pool->workers());
    if (limit_bytes == 0 || limit_bytes >= least) return {};
    return Error{
        Code::usage,
        fmt::format("--memory: {}, expected at least {}, {} for each of {} workers (--jobs)",
                    size_text(limit_bytes), size_text(least), size_text(kLeastMemoryBytes), pool->workers())};
  }

  // Measures the second golden run against the first.
  static Result<NoiseFloor> measure_noise(Context& context, const CompareRequest& request,
                                          const DumpIndex& golden, Diagnostics& all) {
    ULPSCOPE_ASSIGN(SourceHandle handle,
                    context.open_source(request.noise_path, request.golden_source, request.source_options));
    Diagnostics found;
    auto index = DumpIndex::build(std::move(handle), request.filter, found, context.cancel());
    if (!index.ok()) return std::move(index).error().within("noise");
    ResultTable twins;
    twins.target = &index.value();
    twins.golden = &golden;
    twins.judgements = {"similarity"};
    twins.judgement_columns.resize(1);
    ULPSCOPE_ASSIGN(twins.pairs, match(index.value(), golden, {}));
    ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
    MeasureProgress progress(context.quiet());
    ULPSCOPE_TRY(measure(twins, request.measure, *pool, context.cancel(), found, nullptr, &progress));
    for (Diagnostic& diagnostic : found.kept()) {
      diagnostic.where = "noise: " + diagnostic.where;
      all.add(std::move(diagnostic));
    }
    return noise_floor(twins, *pool);
  }

  static Status open_folder(Context& context, const CompareRequest& request, const ResultTable& table,
                            const CompareJudge& judge, std::vector<std::string>& command, std::string& folder,
                            std::optional<Journal>& journal) {
    ULPSCOPE_ASSIGN(ThreadPool * workers, context.pool());
    const JournalHeader header{
        comparison_identity(*table.target, *table.golden, request.identity + judge.identity(), *workers),
        command, 0};
    if (request.resume_folder.empty()) {
      ULPSCOPE_ASSIGN(folder, context.make_output_folder("compare"));
      auto created = Journal::create(folder, header);
      if (!created.ok()) return std::move(created).error();
      journal.emplace(std::move(created).value());
      return {};
    }
    folder = request.resume_folder;
    auto resumed = Journal::resume(folder, header);
    if (!resumed.ok()) return std::move(resumed).error();
    journal.emplace(std::move(resumed).value());
    ULPSCOPE_ASSIGN(const JournalHeader first, Journal::read_header(folder));
    command = first.command;  // the reports are those of the run that goes on
    return {};
  }

  static Result<ExitCode> stopped(Context& context, const Error& error, const std::string& folder) {
    if (error.code != Code::cancelled) return error;
    if (!folder.empty()) context.log().warning("stopped; to go on: ulpscope compare --resume " + folder);
    return ExitCode::interrupted;
  }

  static Result<ExitCode> report(Context& context, const CompareRequest& request, const ResultTable& table,
                                 const std::string& folder, int64_t input_errors) {
    const TableView view(table, request.report.version);
    std::string report_path;
    if (request.json_to_stdout) {
      ULPSCOPE_TRY(write_report(view, ReportFormat::json, "-"));
    } else {
      ReportRequest wanted = request.report;
      ULPSCOPE_ASSIGN(wanted.pool, context.pool());
      if (table.measured_again > 0 && has_report(wanted, folder))
        return Error{
            Code::usage,
            fmt::format("--resume: {}: its reports are of files that have changed since ({} measured "
                        "again), and a result is never overwritten: compare into another folder",
                        printable(folder), table.measured_again)};
      wanted.keep_existing = !request.resume_folder.empty() && table.measured_again == 0;
      if (wanted.keep_existing && is_complete(wanted, folder))
        context.log().info(printable(folder) + ": the run is complete, its reports stay as they are");
      ULPSCOPE_ASSIGN(const std::vector<std::string> paths, write_reports(table, wanted, folder));
      for (const std::string& path : paths)
        if (report_path.empty() || path.ends_with("/report.html")) report_path = path;
      const TerminalOptions terminal{terminal_style(answer_descriptor(), ColorChoice::automatic),
                                     report_path};
      context.out() << terminal_summary(view, terminal);
    }
    if (!request.explain_glob.empty()) {
      const std::vector<std::string>& paragraphs = table.localisation.explanations;
      if (paragraphs.empty())
        context.log().warning("--explain: no operation matches '" + printable(request.explain_glob) + "'");
      const int64_t width = terminal_style(answer_descriptor(), ColorChoice::automatic).width;
      for (const std::string& paragraph : paragraphs)
        context.out() << "\n" << printable_lines(paragraph, width);
    }
    return decide(table, view.head().summary, request, input_errors);
  }

  // Names come from dumps: each line is made safe for a terminal. A line goes on below its numbers, which
  // stand beside an indented word.
  static std::string printable_lines(std::string_view text, int64_t width) {
    constexpr int64_t kNumbersColumn = 11;
    std::string out;
    for (const std::string_view line : split(text, '\n')) {
      if (line.empty()) continue;
      const size_t indent = std::min(line.find_first_not_of(' '), line.size());
      const int64_t hang = indent == 0 ? 4 : kNumbersColumn - static_cast<int64_t>(indent);
      out += wrap_words(printable(line.substr(indent)), std::string(indent, ' '), hang, width);
    }
    return out;
  }
};

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace ulpscope
