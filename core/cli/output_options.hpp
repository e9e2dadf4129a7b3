// What the commands about outputs of models share: the options for their input and answer, and the exit code.
#pragma once

#include <optional>
#include <string>

#include "cli/context.hpp"
#include "outputs/output_format.hpp"

namespace ulpscope {

// --input-format and --format text|json.
OptionSpec input_format_option();
OptionSpec answer_format_option();

// Sets format by --input-format; nothing for auto. usage: a wrong word.
Status set_input_format(const ParsedOptions& options, std::optional<OutputFormat>& format);

// give_answer of a text and a JSON object.
Status give_output_answer(Context& context, const std::string& command, std::string text, std::string json,
                          const std::string& format);

// Tells what was unusable, and which exit code follows: finding where something was found, unreadable where a
// part of the input was lost, else success.
ExitCode answer_code(Context& context, bool found);

}  // namespace ulpscope
