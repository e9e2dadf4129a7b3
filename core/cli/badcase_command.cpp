#include "badcase/badcase.hpp"

#include "badcase/report.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/output_options.hpp"

namespace ulpscope {
namespace {

constexpr int64_t kMostRows = 1'000'000;

class BadcaseCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "badcase";
    info.group = CommandGroup::incident;
    info.summary = "Finds samples that only the golden run answers right";
    info.synopsis = "--golden FILE --problem FILE";
    info.description =
        "Pairs two evaluations of one data set, says whether the drop is more than chance, and ranks the "
        "samples "
        "that only golden answers right: the best case for localisation first. Reads CSV tables, results and "
        "predictions of OpenCompass and AISBench, sample lines of lm-eval, and JSON lines. Exit code 1 when "
        "there "
        "is a bad case.";
    info.example = "ulpscope badcase --golden gpu.csv --problem npu.csv";
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    return {{"golden", {}, OptionKind::sequence, "FILE", "results of the golden run"},
            {"problem", {}, OptionKind::sequence, "FILE", "results of the problem run"},
            {"repeats",
             {},
             OptionKind::sequence,
             "FILE",
             "results of further problem runs: stable cases come first"},
            {"first_token", {}, OptionKind::flag, "", "add what first-token-diff says of each bad case"},
            {"top", {}, OptionKind::value, "N", "list the best N bad cases only"},
            {"no_judge",
             {},
             OptionKind::flag,
             "",
             "do not compare predictions with gold where no verdict is given"},
            answer_format_option()};
  }

  Result<ExitCode> run(Context& context) override {
    const ParsedOptions& given = context.options();
    ULPSCOPE_ASSIGN(const std::string format, given.choice("format", {"text", "json"}));
    BadcaseOptions options;
    options.golden = given.all("golden");
    options.problem = given.all("problem");
    if (options.golden.empty() || options.problem.empty())
      return Error{Code::usage, "expected both of --golden FILE and --problem FILE"};
    options.repeats = given.all("repeats");
    options.judges = !given.has("no_judge");
    if (given.has("top")) {
      ULPSCOPE_ASSIGN(options.top, given.integer("top", kMostRows, 1, kMostRows));
    }
    ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
    const auto report = find_bad_cases(options, {*pool, context.diagnostics(), context.cancel()});
    if (!report.ok()) {
      answer_code(context, false);
      return report.error();
    }
    const bool details = given.has("first_token");
    ULPSCOPE_TRY(
        give_output_answer(context, "badcase", text_of(*report, details), json_of(*report, details), format));
    return answer_code(context, report->b > 0);
  }
};

}  // namespace

std::unique_ptr<Command> make_badcase_command() { return std::make_unique<BadcaseCommand>(); }

}  // namespace ulpscope
