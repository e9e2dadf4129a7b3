#include <algorithm>

#include "anomaly/anomaly.hpp"
#include "anomaly/report.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/output_options.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostOutputs = 40;  // on stdout; the JSON has all
constexpr size_t kMostFiles = 100'000;

class AnomalyCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "anomaly";
    info.group = CommandGroup::incident;
    info.summary = "Finds garbled, repeating and other odd outputs";
    info.synopsis = "FILE… [--repeats]";
    info.description =
        "Looks at each output of a model by itself: garbled text, repetition, floods of white space, a "
        "language "
        "that nobody asked for, impossible log-probabilities. Reads what first-token-diff reads. Exit code 1 "
        "when "
        "anything but an output cut off by its maximum length was found.";
    info.example = "ulpscope anomaly responses.jsonl";
    info.max_positional = kMostFiles;
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    return {{"repeats",
             {},
             OptionKind::flag,
             "",
             "the same prompts several times: also say which give several outputs"},
            {"golden",
             {},
             OptionKind::sequence,
             "FILE",
             "outputs of the golden run: also find those that end early"},
            {"thresholds",
             {},
             OptionKind::value,
             "FILE",
             "YAML file with numbers of the rules (docs/anomaly.md)"},
            {"categories", {}, OptionKind::value, "FILE", "JSON file with the category of each token"},
            input_format_option(),
            answer_format_option()};
  }

  Result<ExitCode> run(Context& context) override {
    const ParsedOptions& given = context.options();
    ULPSCOPE_ASSIGN(const std::string format, given.choice("format", {"text", "json"}));
    AnomalyOptions options;
    options.files = given.positional();
    if (options.files.empty()) ULPSCOPE_TRY(given.required(0, "FILE"));
    options.golden = given.all("golden");
    options.repeats = given.has("repeats");
    ULPSCOPE_TRY(set_input_format(given, options.format));
    if (const auto path = given.text("thresholds"))
      ULPSCOPE_TRY(read_thresholds(*path, options.inspection.thresholds));
    if (const auto path = given.text("categories"))
      ULPSCOPE_TRY(options.inspection.categories.emplace().read(*path));
    ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
    const auto report = find_anomalies(options, {*pool, context.diagnostics(), context.cancel()});
    if (!report.ok()) {
      answer_code(context, false);
      return report.error();
    }
    ULPSCOPE_TRY(
        give_output_answer(context, "anomaly", text_of(*report, kMostOutputs), json_of(*report), format));
    const bool inconsistent = std::any_of(report->repeats.begin(), report->repeats.end(),
                                          [](const PromptRepeats& each) { return each.is_inconsistent(); });
    return answer_code(context, report->anomalous() > 0 || inconsistent);
  }
};

}  // namespace

std::unique_ptr<Command> make_anomaly_command() { return std::make_unique<AnomalyCommand>(); }

}  // namespace ulpscope
