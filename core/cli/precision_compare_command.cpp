#include <filesystem>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/page_options.hpp"
#include "cli/policy_options.hpp"
#include "precision_compare/precision_files.hpp"
#include "report/api_result.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kFormats = "json,csv";  // besides the page
constexpr std::string_view kResultFile = "precision_compare_result.json";

class PrecisionCompareCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "precision-compare";
    info.aliases = {"api_precision_compare"};
    info.group = CommandGroup::compare;
    info.summary = "Judges pre-check results of a device by a reference's";
    info.synopsis = "-npu CSV -gpu CSV";
    info.description =
        "Reads two tables accuracy_checking_details, one of the device under test and one of the device it "
        "is "
        "held against, and says for each API whether the device is accurate enough. Writes both tables of "
        "msprobe, "
        "JSON and report.html. Exit code 0: nothing "
        "failed; 1: an API is in error; 3: something could not be read or nothing could be judged.";
    info.example = "ulpscope precision-compare -npu npu_details.csv -gpu gpu_details.csv -o results";
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> specs = {
        {"npu_csv_path", {"npu"}, OptionKind::value, "CSV", "details table of the device under test"},
        {"gpu_csv_path", {"gpu"}, OptionKind::value, "CSV", "details table of the reference device"}};
    for (OptionSpec& spec : policy_options()) specs.push_back(std::move(spec));
    for (OptionSpec& spec : page_options(kFormats)) specs.push_back(std::move(spec));
    return specs;
  }

  Result<ExitCode> run(Context& context) override {
    ULPSCOPE_ASSIGN(const std::string device_path, path(context, "npu_csv_path", "-npu"));
    ULPSCOPE_ASSIGN(const std::string reference_path, path(context, "gpu_csv_path", "-gpu"));
    ULPSCOPE_ASSIGN(const PageChoice page, chosen_page(context.options(), kFormats));
    ULPSCOPE_ASSIGN(Policy policy, chosen_policy(context, context.options()));
    ULPSCOPE_ASSIGN(const DetailsTable device, read_details(device_path));
    ULPSCOPE_ASSIGN(const DetailsTable reference, read_details(reference_path));
    ULPSCOPE_ASSIGN(Registry * registry, context.registry());
    JudgementChooser chooser(std::move(policy), *registry);
    ULPSCOPE_ASSIGN(const PrecisionResult result, precision_compare(device, reference, chooser));
    ULPSCOPE_ASSIGN(const std::string folder, context.make_output_folder("precision_compare"));
    const PrecisionRun run{
        std::string(product_version()), device_path,           reference_path,
        chooser.policy().name,          chooser.policy().hash, checked_dump(folder_of(device_path)),
        context.command_line()};
    const std::string time = compact_time();
    ULPSCOPE_TRY(write_precision_details(result, folder + "/api_precision_compare_details_" + time + ".csv"));
    ULPSCOPE_TRY(write_precision_result(result, folder + "/api_precision_compare_result_" + time + ".csv"));
    ULPSCOPE_TRY(write_precision_json(result, run, folder + "/" + std::string(kResultFile)));
    ULPSCOPE_ASSIGN(const std::string report, write_chosen_page(context, page, folder, kResultFile));
    for (const auto& [table, file] : {std::pair(&device, &device_path), {&reference, &reference_path}})
      if (table->rows.empty())
        context.log().error(printable(*file) +
                            ": no row below the header, expected one for each output of an API");
    say(context, result, chooser, report);
    return exit_code_of(result);
  }

 private:
  static constexpr size_t kMostShown = 20;

  static Result<std::string> path(Context& context, const char* option, const char* shown) {
    const auto given = context.options().text(option);
    if (!given) return Error{Code::usage, std::string("option ") + shown + " CSV is missing"};
    return *given;
  }

  static std::string folder_of(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    return folder.empty() ? "." : folder.string();
  }

  static ExitCode exit_code_of(const PrecisionResult& result) {
    if (result.failed > 0) return ExitCode::finding;
    const bool nothing = result.passed + result.warned == 0;
    return nothing || result.bad_data > 0 ? ExitCode::unreadable : ExitCode::success;
  }

  static void say(Context& context, const PrecisionResult& result, const JudgementChooser& chooser,
                  const std::string& report) {
    size_t shown = 0;
    for (const std::string& notice : result.notices)
      if (++shown <= kMostShown) context.log().warning(notice);
    if (shown > kMostShown)
      context.log().warning(count_text(static_cast<int64_t>(shown - kMostShown)) +
                            " more notices are in precision_compare_result.json");
    for (const std::string& unused : chooser.unused()) context.log().warning(unused);
    const bool is_english = context.options().text_or("lang", "en") != "zh";
    size_t errors = 0;
    for (const OutputResult& output : result.outputs) {
      if (output.status != OutputStatus::error || ++errors > kMostShown) continue;
      context.out() << "error  " << printable(output.name) << "  " << output.algorithm << "  "
                    << printable(is_english && !output.reason.empty() ? output.reason : output.message)
                    << "\n";
    }
    if (errors > kMostShown)
      context.out() << "and " << count_text(static_cast<int64_t>(errors - kMostShown))
                    << " more outputs in error\n";
    if (result.bad_data > 0)
      context.out() << count_text(result.bad_data) << " outputs hold cells that are no numbers\n";
    context.out() << "pass " << count_text(result.passed) << "   warning " << count_text(result.warned)
                  << "   error " << count_text(result.failed) << "   skip " << count_text(result.skipped)
                  << "   (APIs)   report  " << printable(report) << "\n";
  }
};

}  // namespace

std::unique_ptr<Command> make_precision_compare_command() {
  return std::make_unique<PrecisionCompareCommand>();
}

}  // namespace ulpscope
