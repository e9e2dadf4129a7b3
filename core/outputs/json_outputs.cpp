#include "outputs/json_outputs.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "outputs/json_logprobs.hpp"

namespace ulpscope {
namespace {

constexpr uint32_t kNone = JsonTape::kNone;
// Of prompts that the choices of one response share: each gets a copy.
constexpr uint64_t kMostSharedBytes = uint64_t{256} << 20;

uint32_t member(const JsonTape& tape, uint32_t object, std::string_view name) {
  return tape.is(object, JsonKind::object) ? tape.find(object, name) : kNone;
}

// The first member of those names that is there and not null.
uint32_t first_member(const JsonTape& tape, uint32_t object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const uint32_t node = member(tape, object, name);
    if (node != kNone && !tape.is(node, JsonKind::null)) return node;
  }
  return kNone;
}

void set_prompt(const JsonTape& tape, uint32_t object, ModelOutput& output) {
  for (const std::string_view name : {"prompt_token_ids", "input_token_ids", "prompt", "messages", "question",
                                      "queries", "origin_prompt"}) {
    const uint32_t node = member(tape, object, name);
    if (node == kNone || tape.is(node, JsonKind::null)) continue;
    if (!output.prompt_ids && (name == "prompt_token_ids" || name == "input_token_ids" || name == "prompt") &&
        !(name == "prompt" && tape.is(node, JsonKind::text)))
      if (auto ids = json_integers(tape, node)) {
        output.prompt_ids = std::move(*ids);
        continue;
      }
    const bool is_list = tape.is(node, JsonKind::array) || tape.is(node, JsonKind::object);
    if (name == "prompt_token_ids" || name == "input_token_ids" || output.prompt) continue;
    if (tape.is(node, JsonKind::text))
      output.prompt = tape.text(node);
    else if (is_list)
      output.prompt = json_text_of(tape, node);
  }
}

void set_temperature(const JsonTape& tape, uint32_t object, ModelOutput& output) {
  uint32_t node = member(tape, object, "temperature");
  if (node == kNone) node = member(tape, member(tape, object, "sampling_params"), "temperature");
  if (tape.is(node, JsonKind::number)) output.temperature = json_double(tape.text(node));
}

void set_finish(const JsonTape& tape, uint32_t object, ModelOutput& output) {
  const uint32_t node = member(tape, object, "finish_reason");
  if (tape.is(node, JsonKind::text)) output.finish = finish_of(tape.text(node));
}

// What holds for every choice of a response.
struct Shared {
  ModelOutput base;
  OutputDetail detail;
};

// Half-filled lists of alternatives are filled up, so that they stay parallel.
void finish_logprobs(Logprobs& logprobs) {
  if (!logprobs.ends.empty()) logprobs.ends.resize(logprobs.chosen.size(), logprobs.alternatives.size());
}

void set_token_ids(const JsonTape& tape, uint32_t node, ModelOutput& output) {
  if (node == kNone || tape.is(node, JsonKind::null)) return;
  TokenList list;
  if (!append_tokens(tape, node, list)) return;
  output.has_tokens = true;
  if (list.ids.empty() && !list.texts.empty()) {
    output.tokens = std::move(list);
    return;
  }
  output.tokens.ids = std::move(list.ids);
  // Texts beside numbers are of use only where they are of the same tokens.
  if (output.tokens.texts.size() != output.tokens.ids.size()) {
    output.tokens.texts.clear();
    output.tokens.bytes.clear();
  }
}

void append_text(const JsonTape& tape, uint32_t node, ModelOutput& output) {
  if (!tape.is(node, JsonKind::text)) return;
  if (!output.text) output.text.emplace();
  *output.text += tape.text(node);
}

// One element of "choices" (a completion, a chat message or a piece of a stream) or of "outputs".
void append_choice(const JsonTape& tape, uint32_t node, int64_t ordinal, const Shared& shared,
                   std::vector<ModelOutput>& outputs) {
  if (!tape.is(node, JsonKind::object)) return;
  ModelOutput output = shared.base;
  const uint32_t index = member(tape, node, "index");
  output.choice = ordinal;
  if (tape.is(index, JsonKind::number)) output.choice = json_int(tape.text(index)).value_or(ordinal);
  set_prompt(tape, node, output);
  set_finish(tape, node, output);
  if (shared.detail.text) {
    append_text(tape, member(tape, node, "text"), output);
    for (const std::string_view name : {"message", "delta"}) {
      const uint32_t message = member(tape, node, name);
      append_text(tape, first_member(tape, message, {"reasoning_content", "reasoning"}), output);
      append_text(tape, member(tape, message, "content"), output);
    }
  }
  const uint32_t ids = member(tape, node, "token_ids");
  const uint32_t logprobs = member(tape, node, "logprobs");
  // A list of values by token needs the tokens first; a response names them itself.
  const bool is_list = tape.is(logprobs, JsonKind::array);
  if (is_list) set_token_ids(tape, ids, output);
  append_logprobs(tape, logprobs, kNone, shared.detail.logprobs, output);
  if (!is_list) set_token_ids(tape, ids, output);
  finish_logprobs(output.logprobs);
  outputs.push_back(std::move(output));
}

void append_choices(const JsonTape& tape, uint32_t list, const Shared& shared,
                    std::vector<ModelOutput>& outputs) {
  const ModelOutput& base = shared.base;
  const uint64_t prompt_bytes = (base.prompt ? base.prompt->size() : 0) +
                                (base.prompt_ids ? base.prompt_ids->size() * sizeof(int64_t) : 0);
  if (prompt_bytes * tape.at(list).count > kMostSharedBytes) return;
  int64_t ordinal = 0;
  for (uint32_t i = list + 1; i != tape.at(list).next; i = tape.at(i).next)
    append_choice(tape, i, ordinal++, shared, outputs);
}

// An object that is one output: tokens, text, or both.
void append_line(const JsonTape& tape, uint32_t node, const Shared& shared,
                 std::vector<ModelOutput>& outputs) {
  ModelOutput output = shared.base;
  const uint32_t tokens = first_member(tape, node, {"output_token_ids", "token_ids", "output_ids", "tokens"});
  set_token_ids(tape, tokens, output);
  const uint32_t text =
      first_member(tape, node, {"text", "prediction", "output", "response", "generated_text", "completion"});
  if (shared.detail.text) append_text(tape, text, output);
  append_logprobs(tape, member(tape, node, "logprobs"), member(tape, node, "top_logprobs"),
                  shared.detail.logprobs, output);
  finish_logprobs(output.logprobs);
  set_finish(tape, node, output);
  const bool has_text = tape.is(text, JsonKind::text);
  if (output.has_tokens || has_text || output.has_logprobs) outputs.push_back(std::move(output));
}

void set_ids(const JsonTape& tape, uint32_t node, ModelOutput& base) {
  constexpr std::array<std::pair<std::string_view, IdKind>, 3> kIds = {
      {{"custom_id", IdKind::custom_id}, {"id", IdKind::id}, {"key", IdKind::key}}};
  for (const auto& [name, kind] : kIds) {
    const auto word = json_word(tape, member(tape, node, name));
    if (!word) continue;
    if (kind == IdKind::id && is_engine_id(*word)) {
      // Numbers one after the other pair nothing; they are kept to be shown.
      if (base.request_id.empty()) base.request_id = *word;
      continue;
    }
    if (base.id_kind != IdKind::none) continue;
    base.id = *word;
    base.id_kind = kind;
  }
  if (const auto word = json_word(tape, member(tape, node, "request_id"))) base.request_id = *word;
}

void append_response(const JsonTape& tape, uint32_t node, Shared shared, std::vector<ModelOutput>& outputs);

// {"custom_id", "request", "response": {…} or {"body": {…}}}
void append_batch_line(const JsonTape& tape, uint32_t response, uint32_t request, Shared shared,
                       std::vector<ModelOutput>& outputs) {
  const uint32_t request_body = first_member(tape, request, {"body"});
  const uint32_t asked = tape.is(request_body, JsonKind::object) ? request_body : request;
  set_prompt(tape, asked, shared.base);
  set_temperature(tape, asked, shared.base);
  const uint32_t body = member(tape, response, "body");
  append_response(tape, tape.is(body, JsonKind::object) ? body : response, std::move(shared), outputs);
}

void append_response(const JsonTape& tape, uint32_t node, Shared shared, std::vector<ModelOutput>& outputs) {
  const IdKind kind = shared.base.id_kind;
  if (kind == IdKind::none) {
    set_ids(tape, node, shared.base);
  } else if (const auto id = json_word(tape, member(tape, node, "id"))) {
    shared.base.request_id = *id;
  }
  set_prompt(tape, node, shared.base);
  set_temperature(tape, node, shared.base);
  const uint32_t finished = member(tape, node, "finished");
  shared.base.is_partial = tape.is(finished, JsonKind::boolean) && !tape.at(finished).truth;
  for (const std::string_view name : {"choices", "outputs"}) {
    const uint32_t list = member(tape, node, name);
    if (tape.is(list, JsonKind::array) && (tape.at(list).count == 0 || tape.is(list + 1, JsonKind::object)))
      return append_choices(tape, list, shared, outputs);
  }
  append_line(tape, node, shared, outputs);
}

}  // namespace

void append_json_outputs(const JsonTape& tape, uint32_t node, const OutputDetail& detail,
                         std::vector<ModelOutput>& outputs) {
  if (!tape.is(node, JsonKind::object)) return;
  Shared shared;
  shared.detail = detail;
  const uint32_t response = member(tape, node, "response");
  if (!tape.is(response, JsonKind::object)) return append_response(tape, node, std::move(shared), outputs);
  set_ids(tape, node, shared.base);
  set_prompt(tape, node, shared.base);
  set_temperature(tape, node, shared.base);
  const uint32_t request = member(tape, node, "request");
  append_batch_line(tape, response, tape.is(request, JsonKind::object) ? request : node, std::move(shared),
                    outputs);
}

std::optional<std::string_view> json_word(const JsonTape& tape, uint32_t node) {
  if (tape.is(node, JsonKind::text) || tape.is(node, JsonKind::number)) return tape.text(node);
  return std::nullopt;
}

std::optional<std::vector<int64_t>> json_integers(const JsonTape& tape, uint32_t node) {
  if (tape.is(node, JsonKind::text)) return printed_integers(tape.text(node));
  if (!tape.is(node, JsonKind::array)) return std::nullopt;
  std::vector<int64_t> numbers;
  numbers.reserve(tape.at(node).count);
  for (uint32_t i = node + 1; i != tape.at(node).next; i = tape.at(i).next) {
    const auto number = tape.is(i, JsonKind::number) ? json_int(tape.text(i)) : std::nullopt;
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::vector<int64_t>> printed_integers(std::string_view text) {
  const auto trim = [](std::string_view piece) {
    constexpr std::string_view kWhite = " \t\r\n";
    const size_t begin = piece.find_first_not_of(kWhite);
    if (begin == std::string_view::npos) return std::string_view();
    return piece.substr(begin, piece.find_last_not_of(kWhite) - begin + 1);
  };
  text = trim(text);
  if (text.starts_with("array(")) {
    const size_t open = text.find('[');
    if (open == std::string_view::npos || !text.ends_with(")")) return std::nullopt;
    text = trim(text.substr(open, text.size() - open - 1));
  }
  const bool is_list = text.size() >= 2 && ((text.front() == '[' && text.back() == ']') ||
                                            (text.front() == '(' && text.back() == ')'));
  if (!is_list) return std::nullopt;
  text = trim(text.substr(1, text.size() - 2));
  if (text.ends_with(",")) text.remove_suffix(1);  // (7,)
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const auto number = parse_int(trim(text.substr(0, comma)));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return numbers;
}

}  // namespace ulpscope
