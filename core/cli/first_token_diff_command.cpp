#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/output_options.hpp"
#include "first_token/first_token.hpp"
#include "first_token/report.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostRequests = 20;  // on stdout; the JSON has all
constexpr int64_t kMostContext = 1000;

Result<double> non_negative(const ParsedOptions& options, std::string_view name, double otherwise) {
  const auto text = options.text(name);
  if (!text) return otherwise;
  const auto value = parse_double(*text);
  if (value && std::isfinite(*value) && *value >= 0) return *value;
  return Error{Code::usage, "option --" + std::string(name == "tie_gap" ? "tie-gap" : name) + ": '" +
                                printable(*text) + "', expected a number from 0 on"};
}

Result<FirstTokenOptions> options_of(const ParsedOptions& given) {
  FirstTokenOptions options;
  ULPSCOPE_TRY(set_input_format(given, options.format));
  ULPSCOPE_ASSIGN(const std::string pair, given.choice("pair", {"auto", "id", "prompt", "order"}));
  options.pair = pair == "id"       ? PairBy::id
                 : pair == "prompt" ? PairBy::prompt
                 : pair == "order"  ? PairBy::order
                                    : PairBy::automatic;
  ULPSCOPE_ASSIGN(options.diff.tie_gap, non_negative(given, "tie_gap", options.diff.tie_gap));
  ULPSCOPE_ASSIGN(options.diff.drift, non_negative(given, "drift", options.diff.drift));
  ULPSCOPE_ASSIGN(options.diff.context, given.integer("context", options.diff.context, 0, kMostContext));
  options.golden_ledger = given.text_or("golden_ledger", "");
  options.problem_ledger = given.text_or("problem_ledger", "");
  options.tokenizer = given.text_or("tokenizer", "");
  options.golden = given.all("golden");
  options.problem = given.all("problem");
  return options;
}

// GOLDEN PROBLEM, or lists by option.
Status set_sides(const ParsedOptions& given, FirstTokenOptions& options) {
  const std::vector<std::string>& words = given.positional();
  if (options.golden.empty() && options.problem.empty()) {
    ULPSCOPE_ASSIGN(const std::string golden, given.required(0, "GOLDEN"));
    ULPSCOPE_ASSIGN(const std::string problem, given.required(1, "PROBLEM"));
    options.golden = {golden};
    options.problem = {problem};
    return {};
  }
  if (!words.empty() || options.golden.empty() || options.problem.empty())
    return Error{Code::usage, "expected GOLDEN PROBLEM, or both of --golden FILE… and --problem FILE…"};
  return {};
}

std::vector<OptionSpec> own_options() {
  const auto value = [](const char* name, const char* value_name, const char* doc) {
    return OptionSpec{name, {}, OptionKind::value, value_name, doc};
  };
  return {{"golden", {}, OptionKind::sequence, "FILE", "files or folders of the golden side, joined"},
          {"problem", {}, OptionKind::sequence, "FILE", "files or folders of the problem side, joined"},
          {"runs", {}, OptionKind::sequence, "RUN", "compare repeats of one side, each with the first"},
          value("golden_ledger", "FILE", "step ledger of the golden run: names the step to dump"),
          value("problem_ledger", "FILE", "step ledger of the problem run"),
          value("pair", "HOW", "auto (default), id, prompt or order"),
          value("tie_gap", "GAP", "log-probability gap up to which a divergence is a near tie (0.125)"),
          value("drift", "LIMIT", "difference of log-probabilities from which on they drift (0.05)"),
          value("context", "N", "tokens to show on each side of the position (8)"),
          value("tokenizer", "FILE", "tokenizer.json, to show tokens as text"),
          input_format_option(),
          answer_format_option()};
}

class FirstTokenDiffCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "first-token-diff";
    info.group = CommandGroup::incident;
    info.summary = "Finds the first differing token of two runs";
    info.synopsis = "GOLDEN PROBLEM | --runs A B …";
    info.description =
        "Pairs the outputs of two runs, names the first token that differs in each, says how sure the golden "
        "run was of it, and which step to dump. Reads server responses, streams, RequestOutput and token_ids "
        "prints, token lines and CSV tables; '-' is the standard input. Exit code 1 when a request diverged.";
    info.example = "ulpscope first-token-diff golden.jsonl problem.jsonl";
    info.max_positional = 2;
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override { return own_options(); }

  Result<ExitCode> run(Context& context) override {
    const ParsedOptions& given = context.options();
    ULPSCOPE_ASSIGN(const std::string format, given.choice("format", {"text", "json"}));
    ULPSCOPE_ASSIGN(FirstTokenOptions options, options_of(given));
    ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
    const WorkTools tools{*pool, context.diagnostics(), context.cancel()};
    if (given.has("runs")) return run_repeats(context, options, tools, format);
    ULPSCOPE_TRY(set_sides(given, options));
    const auto report = compare_first_tokens(options, tools);
    if (!report.ok()) {
      answer_code(context, false);
      return report.error();
    }
    if (report->requests.empty() && !context.cancel().requested()) {
      answer_code(context, false);
      return Error{Code::io, "no output of the problem run belongs to one of the golden run (paired by " +
                                 std::string(to_text(report->pairing)) + ")"};
    }
    ULPSCOPE_TRY(give_output_answer(context, "first_token_diff", text_of(*report, kMostRequests),
                                    json_of(*report), format));
    const bool found = std::any_of(report->requests.begin(), report->requests.end(),
                                   [](const RequestDiff& request) { return is_difference(request.diff); });
    const bool lost = std::any_of(report->requests.begin(), report->requests.end(), [](const auto& request) {
      return request.diff.status == DiffStatus::empty || request.diff.status == DiffStatus::not_comparable;
    });
    const ExitCode code = answer_code(context, found);
    return code == ExitCode::success && lost ? ExitCode::unreadable : code;
  }

 private:
  static Result<ExitCode> run_repeats(Context& context, const FirstTokenOptions& options,
                                      const WorkTools& tools, const std::string& format) {
    const ParsedOptions& given = context.options();
    std::vector<std::string> runs = given.all("runs");
    runs.insert(runs.end(), given.positional().begin(), given.positional().end());
    if (runs.size() < 2) return Error{Code::usage, "option --runs: one run, expected at least two"};
    const auto report = compare_runs(runs, options, tools);
    if (!report.ok()) {
      answer_code(context, false);
      return report.error();
    }
    ULPSCOPE_TRY(give_output_answer(context, "first_token_diff", text_of(*report, kMostRequests),
                                    json_of(*report), format));
    const auto any = [&](auto&& is) {
      return std::any_of(report->requests.begin(), report->requests.end(), is);
    };
    const ExitCode code =
        answer_code(context, any([](const auto& request) { return request.distinct > 1 && request.greedy; }));
    const bool lost = any([](const auto& request) { return request.lost; });
    return code == ExitCode::success && lost ? ExitCode::unreadable : code;
  }
};

}  // namespace

std::unique_ptr<Command> make_first_token_diff_command() { return std::make_unique<FirstTokenDiffCommand>(); }

}  // namespace ulpscope
