#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/locate_json.hpp"
#include "cli/page_options.hpp"
#include "flow/flow.hpp"
#include "flow/request.hpp"
#include "formats/acl_tree.hpp"
#include "report/output_file.hpp"
#include "report/output_folder.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kFormats = "json";  // besides the page
constexpr std::string_view kResultFile = "locate_result.json";
constexpr size_t kMostDiagnostics = 10, kMostListed = 10;

// Six decimals, as tables of cosines have them.
std::string number_or_none(const std::optional<double>& value) {
  return value ? fmt::format("{:.6f}", *value) : "none";
}

// A question on the terminal; nothing when nobody sits there or the answer is neither yes nor no.
std::optional<bool> ask_on_terminal(const std::string& question) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return std::nullopt;
  std::cerr << question << " [y/n] " << std::flush;
  std::string line;
  if (!std::getline(std::cin, line) || line.empty()) return std::nullopt;
  if (line[0] == 'y' || line[0] == 'Y') return true;
  if (line[0] == 'n' || line[0] == 'N') return false;
  return std::nullopt;
}

// {time}/{device}/{model}/{id}/{index} names the model that the next run must dump.
std::string model_of(const StageFile& stages) {
  const auto tree = find_acl_tree(stages.find("origin")->dump);
  if (!tree.ok()) return "MODEL";
  const auto parts = split(tree->leaves[0].run, '/');
  return parts.size() >= 2 ? std::string(parts[parts.size() - 2]) : "MODEL";
}

Status write_file(const std::string& path, const std::string& text) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);  // of the run before this one, in a folder that the user named
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  file.text() += text;
  return file.commit();
}

void print_step(Output& out, const FlowStep& step) {
  std::string line = "step " + step.step;
  if (step.round > 0) line += " round " + std::to_string(step.round);
  line += step.compares ? "  " + step.mine + " against " + step.reference : "  " + step.stage;
  if (step.final_cosine) line += "   final cosine " + number_or_none(step.final_cosine);
  if (step.met) line += std::string(*step.met ? "   met" : "   not met") + " (" + step.met_by + ")";
  out.line(printable(line + (step.next.empty() ? "" : "   next: " + step.next)));
  if (step.first)
    out.line(printable("    first: " + step.first->op + " output " + std::to_string(step.first->output) +
                       "  " + step.first->op_type + "  cosine " + number_or_none(step.first->cosine) +
                       "  inputs " + std::string(to_text(step.first->inputs))));
  else if (step.compares)
    out.line("    no operator differs");
  for (size_t i = 1; i < std::min(step.below_limit.size(), kMostListed); ++i) {
    const DifferingOp& op = step.below_limit[i];
    out.line(printable("    later: " + op.op + "  cosine " + number_or_none(op.cosine) + "  inputs " +
                       std::string(to_text(op.inputs))));
  }
  if (step.below_limit.size() > kMostListed)
    out.line("    and " + std::to_string(step.below_limit.size() - kMostListed) + " more");
  for (const ComparedInput& input : step.inputs)
    out.line(printable("    input " + input.name + (input.equal ? ": equal" : ": differs") + ", cosine " +
                       number_or_none(input.cosine) + ", max_abs_err " + number_or_none(input.max_abs_err) +
                       (input.problem.empty() ? "" : ", " + input.problem)));
  for (const std::string& note : step.notes) out.line(printable("    note: " + note));
}

std::string outcome_text(const std::string& outcome) {
  const std::pair<std::string_view, std::string_view> kTexts[] = {
      {"met", "the result is as accurate as required: nothing to locate"},
      {"cured_by_high_precision", "high precision cures the result: keep it"},
      {"cured_by_keep", "cured by keeping these operators in high precision"},
      {"nothing_found",
       "no operator is below the limit and the result is still wrong: try a higher op_limit, or cache_off"},
      {"cache",
       "the data cache is at fault: send the operators above and the logs to support; keep the cache on "
       "after the fix"},
      {"fusion",
       "operator fusion is at fault: send the operators above and the logs to support; keep fusion on after "
       "the fix"},
      {"data", "data or configuration is at fault: correct it and run again (stage data_checked)"},
      {"golden_compared",
       "send the operators above, the logs and graph dumps (DUMP_GE_GRAPH, DUMP_GRAPH_LEVEL) to support"},
      {"no_progress", "no progress: keeping operators does not help"},
      {"asked", "the next stage is needed"}};
  for (const auto& [word, text] : kTexts)
    if (word == outcome) return std::string(text);
  return outcome;
}

class LocateCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "locate";
    info.group = CommandGroup::compare;
    info.summary = "Finds why an offline model (ACL) gives a wrong result";
    info.synopsis = "--stages FILE";
    info.description =
        "Walks through the stages of the localisation: high precision, keeping operators, data cache off, "
        "fusion off, "
        "data, golden. FILE (YAML or JSON) lists the builds that were run. Goes as far as they allow, then "
        "says which "
        "build to run next and writes the files for it.";
    info.example = "ulpscope locate --stages stages.yaml -o results";
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> specs = {
        {"stages", {}, OptionKind::value, "FILE", "the stage file (docs/locating-offline-models.md)"},
        {"batch",
         {},
         OptionKind::value,
         "N",
         "operators to keep more in each round; default: that of the file, 1"}};
    for (OptionSpec& spec : page_options(kFormats)) specs.push_back(std::move(spec));
    return specs;
  }

  Result<ExitCode> run(Context& context) override {
    const std::string path = context.options().text_or("stages", "");
    if (path.empty()) return Error{Code::usage, "the stage file is missing: ulpscope locate --stages FILE"};
    ULPSCOPE_ASSIGN(const PageChoice page, chosen_page(context.options(), kFormats));
    ULPSCOPE_ASSIGN(StageFile stages, read_stage_file(path));
    if (const auto batch = context.options().text("batch")) {
      const auto number = parse_int(*batch);
      if (!number || *number < 1)
        return Error{Code::usage,
                     "option --batch: '" + printable(*batch) + "', expected a whole number from 1 on"};
      stages.batch = *number;
    }
    ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
    const FlowHost host{[&](const std::string& dump, const std::string& source, const std::string& fusion) {
                          const nlohmann::json options =
                              fusion.empty() ? nlohmann::json::object() : nlohmann::json{{"fusion", fusion}};
                          return context.open_dump(dump, source, {}, options.dump());
                        },
                        ask_on_terminal, pool, &context.cancel(), &context.diagnostics()};
    auto result = run_flow(stages, host);
    context.log_diagnostics(kMostDiagnostics);
    if (!result.ok()) return std::move(result).error();
    if (result->ask) result->ask->model = model_of(stages);
    ULPSCOPE_ASSIGN(const std::string folder, output_folder(context));
    if (result->ask)
      for (const auto& [name, text] : request_files(*result->ask))
        ULPSCOPE_TRY(write_file(std::string(folder).append("/").append(name), text));
    ULPSCOPE_TRY(
        write_file(folder + "/" + std::string(kResultFile), locate_json(*result, stages, folder, path)));
    std::error_code ignored;
    std::filesystem::remove(folder + "/" + std::string(kPageFile), ignored);  // of the run before this one
    ULPSCOPE_ASSIGN(const std::string report, write_chosen_page(context, page, folder, kResultFile));
    print(context.out(), *result, folder, path);
    if (page.wanted) context.out().line("report  " + printable(report));
    return ExitCode::success;
  }

 private:
  // A folder that the user names goes on from run to run: the flow is resumed in it.
  static Result<std::string> output_folder(Context& context) {
    const std::string base = context.options().text_or("output_path", "");
    if (!context.options().has("exact_output") || base.empty() || !holds_result(base))
      return context.make_output_folder("locate");
    return base;
  }

  static void print(Output& out, const FlowResult& result, const std::string& folder,
                    const std::string& stage_file) {
    for (const FlowStep& step : result.steps) print_step(out, step);
    out.line("");
    out.line(result.outcome + ": " + outcome_text(result.outcome));
    for (const std::string& name : result.keep_list) out.line("    keep " + printable(name));
    if (result.ask) {
      out.line("");
      for (const std::string& line : request_lines(*result.ask, folder, stage_file))
        out.line(printable(line));
    }
    out.line("");
    out.line("result  " + printable(folder) + "/" + std::string(kResultFile));
  }
};

}  // namespace

std::unique_ptr<Command> make_locate_command() { return std::make_unique<LocateCommand>(); }

}  // namespace ulpscope
