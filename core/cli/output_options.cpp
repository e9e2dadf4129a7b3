#include "cli/output_options.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostDiagnostics = 10;

}  // namespace

OptionSpec input_format_option() {
  return {"input_format",
          {},
          OptionKind::value,
          "FORMAT",
          "auto (default), json, stream, request_output, print, csv or text"};
}

OptionSpec answer_format_option() {
  return {"format", {}, OptionKind::value, "FORMAT", "text (default) or json, on the standard output"};
}

Result<std::optional<OutputFormat>> input_format_of(const ParsedOptions& options) {
  ULPSCOPE_ASSIGN(const std::string word, options.choice("input_format", output_format_words()));
  return output_format_of(word);
}

ExitCode answer_code(Context& context, bool found) {
  const bool lost = context.diagnostics().count(Severity::error) > 0;
  context.log_diagnostics(kMostDiagnostics);
  if (found) return ExitCode::finding;
  return lost ? ExitCode::unreadable : ExitCode::success;
}

}  // namespace ulpscope
