#include <filesystem>
#include <system_error>

#include "base/stray_output.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/page_options.hpp"
#include "report/api_result.hpp"
#include "report/read_result.hpp"
#include "report/result_page.hpp"
#include "report/terminal.hpp"
#include "report/writer.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kResultFiles[] = {"compare_result.json", kCheckFile,
                                             "precision_compare_result.json", "locate_result.json"};

// The stored result that an argument means: a file, or the folder that holds it.
Result<std::string> result_file(const std::string& path) {
  std::error_code code;
  const std::filesystem::path given(path);
  if (!std::filesystem::is_directory(given, code)) return path;
  std::string names;
  for (const std::string_view name : kResultFiles) {
    const std::filesystem::path inside = given / name;
    if (std::filesystem::exists(inside, code)) return inside.string();
    names.append(names.empty() ? "" : ", ").append(name);
  }
  return Error{Code::io,
               printable(path) + ": holds no " + names + ", expected the folder of a run that wrote json"};
}

// The report that a person opens next: the page where there is one.
std::string to_open(const std::vector<ReportFormat>& formats, const std::vector<std::string>& paths) {
  for (size_t i = 0; i < formats.size() && i < paths.size(); ++i)
    if (formats[i] == ReportFormat::html) return paths[i];
  return paths.empty() ? "" : paths.front();
}

class ReportCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "report";
    info.group = CommandGroup::results;
    info.summary = "Writes any report again from the result of a run";
    info.synopsis = "DIR [--format LIST] [--lang en|zh]";
    info.description =
        "DIR is the folder of a compare, check, precision-compare or locate, or the result file in it. The "
        "dumps "
        "are not needed. Of the last three the page can be made again; their tables stand in DIR. The "
        "reports go "
        "to a fresh folder, those of DIR stay as they are; -o - prints one text format on stdout. Exit code "
        "0: "
        "written, whatever the verdict; 3: the result could not be read.";
    info.example = "ulpscope report ulpscope_out/compare_20260808T140500Z --format html,md";
    info.max_positional = 1;
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    return {
        {"format", {}, OptionKind::value, "LIST", "any of json,csv,xlsx,html,md,sqlite,junit (default html)"},
        {"lang", {}, OptionKind::value, "WORD", "language that the page starts in: en (default) or zh"}};
  }

  Result<ExitCode> run(Context& context) override {
    const ParsedOptions& options = context.options();
    ReportRequest request;
    ULPSCOPE_ASSIGN(request.formats, parse_formats(options.text_or("format", "html")));
    ULPSCOPE_ASSIGN(request.language, parse_language(options.text_or("lang", "en")));
    ULPSCOPE_ASSIGN(const std::string given, options.required(0, "DIR"));
    ULPSCOPE_ASSIGN(const std::string path, result_file(given));
    const bool to_stdout = options.text_or("output_path", "") == "-";
    if (to_stdout && request.formats.size() != 1)
      return Error{Code::usage, "-o - prints one report: give one --format with it"};
    if (const Result<std::string> schema = result_schema(path); schema.ok() && has_result_page(*schema))
      return write_page_again(context, path, request, to_stdout);
    ULPSCOPE_ASSIGN(const StoredResult result, read_result(path));
    const StoredView view(result);
    ULPSCOPE_ASSIGN(request.pool, context.pool());
    if (to_stdout) {
      ULPSCOPE_TRY(write_report(view, request.formats.front(), "-", request.pool, request.language));
      return ExitCode::success;
    }
    ULPSCOPE_ASSIGN(const std::string folder, context.make_output_folder("report"));
    ULPSCOPE_ASSIGN(const std::vector<std::string> paths, write_reports(view, request, folder));
    const TerminalOptions terminal{terminal_style(answer_descriptor(), ColorChoice::automatic),
                                   to_open(request.formats, paths)};
    context.out() << terminal_summary(view, terminal);
    return ExitCode::success;
  }

 private:
  // Of a result that is no comparison of dumps.
  static Result<ExitCode> write_page_again(Context& context, const std::string& path,
                                           const ReportRequest& request, bool to_stdout) {
    if (request.formats != std::vector<ReportFormat>{ReportFormat::html})
      return Error{Code::usage, printable(path) +
                                    ": --format: only html is made again of such a result, "
                                    "expected html"};
    std::string page = "-";
    if (!to_stdout) {
      ULPSCOPE_ASSIGN(page, context.make_output_folder("report"));
      page.append("/").append(kPageFile);
    }
    ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
    ULPSCOPE_TRY(write_result_page(path, page, {.language = request.language}, pool));
    if (!to_stdout) context.out() << "report  " << printable(page) << "\n";
    return ExitCode::success;
  }
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace ulpscope
