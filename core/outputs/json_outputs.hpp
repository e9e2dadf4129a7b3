// The outputs in one JSON object: OpenAI completion and chat responses, batch lines, token lines, and the
// RequestOutput of vLLM as JSON. Used by the readers of outputs; python_repr gives it prints as JSON. Knows
// members and their shapes, not files.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/json_tape.hpp"
#include "outputs/model_output.hpp"

namespace ulpscope {

// What to leave out where it is not needed.
struct OutputDetail {
  bool logprobs = true;
  bool text = true;
};

// Appends the outputs of the object at node, one for each choice; appends nothing when it has neither tokens
// nor text. Members that are not understood are passed over. Any thread.
void append_json_outputs(const JsonTape& tape, uint32_t node, const OutputDetail& detail,
                         std::vector<ModelOutput>& outputs);

// A list of integers at node, also as text ("[1, 2]"); nothing when it is anything else.
std::optional<std::vector<int64_t>> json_integers(const JsonTape& tape, uint32_t node);
// A list of integers as it is printed: "[1, 2]", "(1, 2)", "array('l', [1, 2])"; nothing for anything else.
std::optional<std::vector<int64_t>> printed_integers(std::string_view text);
// The text of a text or number; nothing for anything else.
std::optional<std::string_view> json_word(const JsonTape& tape, uint32_t node);

}  // namespace ulpscope
