// What the commands about outputs of models share: the options for their input and answer, and the exit code.
#pragma once

#include <optional>

#include "cli/context.hpp"
#include "outputs/output_format.hpp"

namespace ulpscope {

// --input-format and --format text|json.
OptionSpec input_format_option();
OptionSpec answer_format_option();

// Nothing for auto. usage: a wrong word.
Result<std::optional<OutputFormat>> input_format_of(const ParsedOptions& options);

// Tells what was unusable, and which exit code follows: finding where something was found, unreadable where a
// part of the input was lost, else success.
ExitCode answer_code(Context& context, bool found);

}  // namespace ulpscope
