// Token numbers that somebody printed: "token_ids: [1, 2]" or "token_ids = (1, 2)" anywhere in a line, behind
// colour codes and log prefixes. Used by the readers of outputs. Looks at one line at a time.
#pragma once

#include <string_view>
#include <vector>

#include "outputs/model_output.hpp"

namespace ulpscope {

// Appends an output for each list of token_ids or output_token_ids in the line; prompt_token_ids in front of
// it on the same line are its prompt. Any thread.
void append_token_prints(std::string_view line, std::vector<ModelOutput>& outputs);

}  // namespace ulpscope
