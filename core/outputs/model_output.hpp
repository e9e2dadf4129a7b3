// One output of a model as the comparing commands see it: its tokens, text, log-probabilities and how it
// ended, whatever file format it came from. A record of values; reads and decides nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ulpscope {

// Which member the id of an output came from.
enum class IdKind : uint8_t { none, custom_id, id, key };
// "custom_id", "id", "key"; empty for none.
std::string_view to_text(IdKind kind);

// How an output ended: by itself, by a limit of its length, or nothing known.
enum class Finish : uint8_t { unknown, stop, length };

// Tokens by number where numbers are known; else by their text and, where known, their bytes. Both may be
// there. Parallel lists, each either empty or as long as the output.
struct TokenList {
  std::vector<int64_t> ids;
  std::vector<std::string> texts;
  std::vector<std::string> bytes;

  size_t size() const { return ids.empty() ? texts.size() : ids.size(); }
};

struct ChosenLogprob {
  double value = 0;
  bool known = false;
};

// One of the most likely tokens at a position.
struct Alternative {
  std::string text;
  std::string bytes;  // empty: not known
  int64_t id = -1;    // -1: not known
  double logprob = 0;
};

struct Logprobs {
  std::vector<ChosenLogprob> chosen;  // of the tokens, in order
  // Of position k: alternatives[ends[k - 1], ends[k]). Empty, or as long as chosen.
  std::vector<size_t> ends;
  std::vector<Alternative> alternatives;
};

struct ModelOutput {
  std::string id;  // of id_kind
  IdKind id_kind = IdKind::none;
  std::string request_id;             // of the engine
  std::optional<std::string> prompt;  // text, or the messages of a chat as JSON
  std::optional<std::vector<int64_t>> prompt_ids;
  int64_t choice = 0;
  std::optional<double> temperature;
  bool has_tokens = false;  // tokens may be empty and known
  TokenList tokens;
  std::optional<std::string> text;
  bool has_logprobs = false;
  Logprobs logprobs;  // empty where they were not asked for
  Finish finish = Finish::unknown;
  bool is_partial = false;  // a later print of the same request replaces it
};

// The meaning of a finish_reason: "length", "max_tokens" and their kin, "stop" and its kin, anything else.
Finish finish_of(std::string_view reason);

// Whether an id is one that an engine makes up by itself for each request: "cmpl-…", "chatcmpl-…", "resp_…",
// or a plain counter.
bool is_engine_id(std::string_view id);

}  // namespace ulpscope
