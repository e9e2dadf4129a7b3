// Two outputs of one request compared: the first token that differs, how sure the golden run was of its own,
// and from where on the log-probabilities drift. Used by first-token-diff, anomaly and badcase. Reads no
// file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outputs/model_output.hpp"

namespace ulpscope {

enum class DiffStatus {
  same,
  diverged,
  length,          // one is the beginning of the other
  input_mismatch,  // the prompts differ: outputs are not compared
  empty,           // neither side gave anything
  not_comparable,  // tokens on one side, text on the other
};
std::string_view to_text(DiffStatus status);

// How sure golden was at the divergence. unknown: no log-probabilities there.
enum class DiffKind { unknown, hard, soft, near_tie };
std::string_view to_text(DiffKind kind);

// A token as it is shown: its number, "bytes:HEX", or its text. known: false behind the end of an output.
struct ShownToken {
  bool known = false;
  std::optional<int64_t> id;
  std::string text;     // where there is no number: "bytes:HEX" or the token's text
  std::string decoded;  // the token as text, where known
};

struct DiffOptions {
  // One bf16 step for logits between 16 and 32.
  double tie_gap = 0.125;
  double drift = 0.05;
  int64_t context = 8;  // tokens on each side of the position
};

struct TokenDiff {
  DiffStatus status = DiffStatus::same;
  std::optional<int64_t> position, char_position, input_position;
  ShownToken golden_token, problem_token;
  bool truncated_by_max_tokens = false;
  DiffKind kind = DiffKind::unknown;
  std::optional<double> golden_gap;
  std::optional<int64_t> first_logprob_drift;
  int64_t logprobs_left_out = 0;  // clamped or not finite
  int64_t context_begin = 0;
  TokenList golden_context, problem_context;
  std::string golden_around, problem_around;      // the same of texts without tokens
  int64_t golden_length = 0, problem_length = 0;  // tokens; code points where there are none
  bool ended_early = false;                       // one side ended by itself, the other went on
};

// Prompts first: token ids where both have them, else texts. Then tokens by number, bytes or text, else the
// texts by code point. Pure.
TokenDiff compare_outputs(const ModelOutput& golden, const ModelOutput& problem, const DiffOptions& options);

// Whether a result is a difference of the two runs: not when they are equal, or one was only cut off.
bool is_difference(const TokenDiff& diff);

// The token at index of a list, as it is shown.
ShownToken shown_token(const TokenList& tokens, size_t index);

}  // namespace ulpscope
