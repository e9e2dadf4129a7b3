#include "outputs/json_logprobs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/text.hpp"
#include "outputs/json_outputs.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kIdPrefix = "token_id:";

// The number in "token_id:N".
std::optional<int64_t> marked_id(std::string_view text) {
  if (!text.starts_with(kIdPrefix)) return std::nullopt;
  return parse_int(text.substr(kIdPrefix.size()));
}

// A number, or "NaN", "Infinity" and their kin as text.
ChosenLogprob logprob_of(const JsonTape& tape, uint32_t node) {
  if (tape.is(node, JsonKind::number)) return {json_double(tape.text(node)), true};
  if (!tape.is(node, JsonKind::text)) return {};
  const auto value = parse_double(tape.text(node));
  return value ? ChosenLogprob{*value, true} : ChosenLogprob{};
}

std::string bytes_of(const JsonTape& tape, uint32_t node) {
  const auto numbers = json_integers(tape, node);
  std::string bytes;
  if (!numbers) return bytes;
  for (const int64_t byte : *numbers) bytes += static_cast<char>(byte & 0xff);
  return bytes;
}

// bytes: empty when not known.
void append_token(TokenList& tokens, std::string_view text, std::string bytes) {
  const auto id = marked_id(text);
  if (id && tokens.texts.empty()) {
    tokens.ids.push_back(*id);
    return;
  }
  // Numbers and texts in one list: the numbers become texts again.
  for (; tokens.texts.size() < tokens.ids.size();)
    tokens.texts.push_back(std::string(kIdPrefix) + std::to_string(tokens.ids[tokens.texts.size()]));
  tokens.ids.clear();
  tokens.texts.emplace_back(text);
  if (!bytes.empty() || !tokens.bytes.empty()) {
    tokens.bytes.resize(tokens.texts.size() - 1);
    tokens.bytes.push_back(std::move(bytes));
  }
}

Alternative alternative_of(std::string_view text, double logprob) {
  Alternative alternative;
  alternative.text = text;
  alternative.logprob = logprob;
  if (const auto id = marked_id(text)) alternative.id = *id;
  return alternative;
}

// The alternatives of one position: {token: value}, {token: {"logprob"}}, [{"token", "logprob"}] or numbers.
// Names of tokens that are digits are numbers of tokens only where the tokens of the output have no texts.
void append_alternatives(const JsonTape& tape, uint32_t node, ModelOutput& output) {
  Logprobs& logprobs = output.logprobs;
  const bool is_object = tape.is(node, JsonKind::object);
  if (is_object || tape.is(node, JsonKind::array)) {
    for (uint32_t i = node + 1; i != tape.at(node).next; i = tape.at(i).next) {
      const uint32_t inner = tape.find(i, "logprob");
      const ChosenLogprob value = logprob_of(tape, inner == JsonTape::kNone ? i : inner);
      if (!value.known) continue;
      const uint32_t token = is_object ? JsonTape::kNone : tape.find(i, "token");
      const std::string_view text = is_object                        ? tape.key(i)
                                    : tape.is(token, JsonKind::text) ? tape.text(token)
                                                                     : std::string_view();
      Alternative alternative = alternative_of(text, value.value);
      if (is_object && alternative.id < 0 && output.tokens.texts.empty())
        alternative.id = parse_int(text).value_or(-1);
      if (inner != JsonTape::kNone) {
        alternative.bytes = bytes_of(tape, tape.find(i, "bytes"));
        const uint32_t decoded = tape.find(i, "decoded_token");
        if (tape.is(decoded, JsonKind::text)) alternative.text = tape.text(decoded);
      }
      logprobs.alternatives.push_back(std::move(alternative));
    }
  }
  logprobs.ends.push_back(logprobs.alternatives.size());
}

// {"tokens": […], "token_logprobs": […], "top_logprobs": […]}
void append_completion(const JsonTape& tape, uint32_t values, uint32_t top, bool wanted,
                       ModelOutput& output) {
  if (!wanted || !tape.is(values, JsonKind::array)) return;
  Logprobs& logprobs = output.logprobs;
  for (uint32_t i = values + 1; i != tape.at(values).next; i = tape.at(i).next)
    logprobs.chosen.push_back(logprob_of(tape, i));
  if (!tape.is(top, JsonKind::array)) return;
  for (uint32_t i = top + 1; i != tape.at(top).next; i = tape.at(i).next)
    append_alternatives(tape, i, output);
}

// [{"token", "logprob", "bytes", "top_logprobs"}, …]
void append_chat(const JsonTape& tape, uint32_t list, bool wanted, ModelOutput& output) {
  for (uint32_t i = list + 1; i != tape.at(list).next; i = tape.at(i).next) {
    const uint32_t token = tape.find(i, "token");
    if (tape.is(token, JsonKind::text)) {
      append_token(output.tokens, tape.text(token), bytes_of(tape, tape.find(i, "bytes")));
      output.has_tokens = true;
    }
    if (!wanted) continue;
    output.logprobs.chosen.push_back(logprob_of(tape, tape.find(i, "logprob")));
    append_alternatives(tape, tape.find(i, "top_logprobs"), output);
  }
}

// One element of a list without names: a value, the values of the most likely tokens, or an object by token.
void append_element(const JsonTape& tape, uint32_t node, ModelOutput& output) {
  Logprobs& logprobs = output.logprobs;
  const size_t position = logprobs.chosen.size();
  const size_t begin = logprobs.alternatives.size();
  if (!tape.is(node, JsonKind::object) && !tape.is(node, JsonKind::array)) {
    logprobs.chosen.push_back(logprob_of(tape, node));
    logprobs.ends.push_back(begin);
    return;
  }
  append_alternatives(tape, node, output);
  ChosenLogprob chosen;
  const TokenList& tokens = output.tokens;
  for (size_t k = begin; k < logprobs.alternatives.size() && !chosen.known; ++k) {
    const Alternative& each = logprobs.alternatives[k];
    const bool same_id = position < tokens.ids.size() && each.id == tokens.ids[position];
    const bool same_text =
        tokens.ids.empty() && position < tokens.texts.size() && each.text == tokens.texts[position];
    if (same_id || same_text || tape.is(node, JsonKind::array)) chosen = {each.logprob, true};
  }
  logprobs.chosen.push_back(chosen);
}

}  // namespace

bool append_tokens(const JsonTape& tape, uint32_t node, TokenList& tokens) {
  if (tape.is(node, JsonKind::text)) {
    const auto numbers = json_integers(tape, node);
    if (!numbers) return false;
    tokens.ids.insert(tokens.ids.end(), numbers->begin(), numbers->end());
    return true;
  }
  if (!tape.is(node, JsonKind::array)) return false;
  // Generating scripts keep the batch: one list in a list.
  if (tape.at(node).count == 1 && tape.is(node + 1, JsonKind::array))
    return append_tokens(tape, node + 1, tokens);
  for (uint32_t i = node + 1; i != tape.at(node).next; i = tape.at(i).next) {
    if (tape.is(i, JsonKind::text)) {
      append_token(tokens, tape.text(i), {});
      continue;
    }
    const auto id = tape.is(i, JsonKind::number) ? json_int(tape.text(i)) : std::nullopt;
    if (!id || !tokens.texts.empty()) return false;
    tokens.ids.push_back(*id);
  }
  return true;
}

void append_logprobs(const JsonTape& tape, uint32_t node, uint32_t top, bool wanted, ModelOutput& output) {
  if (tape.is(node, JsonKind::object)) {
    const uint32_t content = tape.find(node, "content");
    if (tape.is(content, JsonKind::array)) {
      output.has_logprobs |= tape.at(content).count > 0;
      return append_chat(tape, content, wanted, output);
    }
    if (append_tokens(tape, tape.find(node, "tokens"), output.tokens)) output.has_tokens = true;
    const uint32_t values = tape.find(node, "token_logprobs");
    output.has_logprobs |= tape.is(values, JsonKind::array) && tape.at(values).count > 0;
    return append_completion(tape, values, tape.find(node, "top_logprobs"), wanted, output);
  }
  if (!tape.is(node, JsonKind::array)) return;
  output.has_logprobs |= tape.at(node).count > 0;
  const uint32_t first = tape.at(node).count > 0 ? node + 1 : JsonTape::kNone;
  if (tape.is(tape.find(first, "token"), JsonKind::text) && tape.find(first, "logprob") != JsonTape::kNone) {
    TokenList known = output.has_tokens ? output.tokens : TokenList();
    const bool had_tokens = output.has_tokens;
    append_chat(tape, node, wanted, output);
    if (had_tokens) output.tokens = std::move(known);
    return;
  }
  if (top != JsonTape::kNone) return append_completion(tape, node, top, wanted, output);
  for (uint32_t i = node + 1; wanted && i != tape.at(node).next; i = tape.at(i).next)
    append_element(tape, i, output);
}

}  // namespace ulpscope
