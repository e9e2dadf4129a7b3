// Log-probabilities in the shapes that servers and scripts write them. Used by json_outputs. Knows nothing of
// requests.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/json_tape.hpp"
#include "outputs/model_output.hpp"

namespace ulpscope {

// Appends the tokens and, when wanted, log-probabilities of the "logprobs" member at node to output:
//   {"tokens", "token_logprobs", "top_logprobs"}            completion
//   {"content": [{"token", "logprob", "bytes", "top_logprobs"}]}   chat
//   [-0.1, "NaN", null]                                     the chosen tokens'
//   [[-0.1, -2.3], …]                                       the most likely ones', the chosen one first
//   [{"12": -0.1, "7": {"logprob": -2.3}}, …]               by token
// top: a list beside it that holds the alternatives; kNone when there is none. Tokens are appended where the
// shape names them.
void append_logprobs(const JsonTape& tape, uint32_t node, uint32_t top, bool wanted, ModelOutput& output);

// The tokens of a list of numbers, texts or "token_id:N", appended. False when node is no such list.
bool append_tokens(const JsonTape& tape, uint32_t node, TokenList& tokens);

}  // namespace ulpscope
