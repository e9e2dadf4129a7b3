#include "cli/output_options.hpp"

#include <utility>

#include "cli/answer.hpp"

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

Status set_input_format(const ParsedOptions& options, std::optional<OutputFormat>& format) {
  ULPSCOPE_ASSIGN(const std::string word, options.choice("input_format", output_format_words()));
  format = output_format_of(word);
  return {};
}

Status give_output_answer(Context& context, const std::string& command, std::string text, std::string json,
                          const std::string& format) {
  Answer answer;
  answer.command = command;
  answer.text = std::move(text);
  answer.json = std::move(json);
  return give_answer(context, answer, format);
}

ExitCode answer_code(Context& context, bool found) {
  const bool lost = context.diagnostics().count(Severity::error) > 0;
  context.log_diagnostics(kMostDiagnostics);
  if (found) return ExitCode::finding;
  return lost ? ExitCode::unreadable : ExitCode::success;
}

}  // namespace ulpscope
