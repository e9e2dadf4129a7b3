#include "badcase/evaluation_record.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "outputs/json_outputs.hpp"

namespace ulpscope {
namespace {

constexpr uint32_t kNone = JsonTape::kNone;

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhite) - begin + 1);
}

// A list of one stands for its element.
uint32_t single(const JsonTape& tape, uint32_t node) {
  while (tape.is(node, JsonKind::array) && tape.at(node).count == 1) ++node;
  return node;
}

// Sets the verdict from a member; false when there is no such member.
bool take_verdict(const JsonTape& tape, uint32_t node, EvaluatedSample& sample) {
  if (node == kNone || tape.is(node, JsonKind::null)) return false;
  node = single(tape, node);
  if (tape.is(node, JsonKind::boolean)) {
    sample.right = tape.at(node).truth;
    return true;
  }
  const auto word = json_word(tape, node);
  if (!word) {
    sample.unclear = json_text_of(tape, node);
    return true;
  }
  sample.right = verdict_of(*word);
  if (!sample.right) sample.unclear = *word;
  return true;
}

// The first of "metrics", else the metrics that a right answer makes 1.
bool take_metric(const JsonTape& tape, uint32_t node, EvaluatedSample& sample) {
  const uint32_t metrics = tape.find(node, "metrics");
  if (tape.is(metrics, JsonKind::array) && tape.at(metrics).count > 0 &&
      tape.is(metrics + 1, JsonKind::text) &&
      take_verdict(tape, tape.find(node, tape.text(metrics + 1)), sample))
    return true;
  for (const std::string_view name : {"exact_match", "acc"})
    if (take_verdict(tape, tape.find(node, name), sample)) return true;
  return false;
}

bool equals(const JsonTape& tape, uint32_t gold, std::string_view prediction) {
  const auto word = json_word(tape, gold);
  return word && without_space(*word) == without_space(prediction);
}

// prediction == gold, or one of gold's list.
void judge_prediction(const JsonTape& tape, uint32_t node, EvaluatedSample& sample) {
  const uint32_t gold = tape.find(node, "gold");
  const auto prediction = json_word(tape, single(tape, tape.find(node, "prediction")));
  if (!prediction || gold == kNone || tape.is(gold, JsonKind::null)) return;
  bool right = equals(tape, gold, *prediction);
  if (tape.is(gold, JsonKind::array))
    for (uint32_t i = gold + 1; i != tape.at(gold).next; i = tape.at(i).next)
      right |= equals(tape, i, *prediction);
  sample.right = right;
}

// The first text at node, through lists.
std::optional<std::string_view> first_text(const JsonTape& tape, uint32_t node) {
  while (tape.is(node, JsonKind::array) && tape.at(node).count > 0) ++node;
  return tape.is(node, JsonKind::text) ? std::optional(tape.text(node)) : std::nullopt;
}

void set_output(const JsonTape& tape, uint32_t node, EvaluatedSample& sample) {
  std::vector<ModelOutput> outputs;
  append_json_outputs(tape, node, {}, outputs);
  if (!outputs.empty()) sample.output = std::move(outputs.front());
  ModelOutput& output = sample.output;
  for (const std::string_view name : {"origin_prediction", "resps", "filtered_resps", "pred", "predictions"})
    if (const auto text = first_text(tape, tape.find(node, name)); text && !output.text) output.text = *text;
  if (output.prompt || output.prompt_ids) return;
  for (const std::string_view name : {"origin_prompt", "prompt", "arguments"}) {
    const uint32_t prompt = tape.find(node, name);
    if (const auto text = first_text(tape, prompt); text && !output.prompt) output.prompt = *text;
    if (!output.prompt && (tape.is(prompt, JsonKind::array) || tape.is(prompt, JsonKind::object)))
      output.prompt = json_text_of(tape, prompt);
  }
}

}  // namespace

std::optional<bool> verdict_of(std::string_view word) {
  const std::string small = to_lower(without_space(word));
  constexpr std::array<std::string_view, 8> kRight = {"correct", "right",  "true", "yes",
                                                      "pass",    "passed", "1",    "1.0"};
  constexpr std::array<std::string_view, 9> kWrong = {"wrong",  "incorrect", "false", "no",        "fail",
                                                      "failed", "0",         "0.0",   "not passed"};
  if (std::find(kRight.begin(), kRight.end(), small) != kRight.end()) return true;
  if (std::find(kWrong.begin(), kWrong.end(), small) != kWrong.end()) return false;
  return std::nullopt;
}

EvaluatedSample json_sample(const JsonTape& tape, uint32_t node, bool judges) {
  EvaluatedSample sample;
  const uint32_t document = tape.find(node, "doc_id");
  for (const std::string_view name : {"doc_id", "id", "key", "uuid"})
    if (const auto word = json_word(tape, tape.find(node, name)); word && sample.key.empty())
      sample.key = *word;
  if (const auto filter = json_word(tape, tape.find(node, "filter")); filter && document != kNone)
    sample.filter = *filter;
  bool judged = false;
  for (const std::string_view name : {"correct", "passed", "pass"})
    judged = judged || take_verdict(tape, tape.find(node, name), sample);
  if (!judged && document != kNone) judged = take_metric(tape, node, sample);
  if (!judged && judges) judge_prediction(tape, node, sample);
  set_output(tape, node, sample);
  return sample;
}

EvaluatedSample csv_sample(const CsvColumns& columns, const std::vector<std::string>& row) {
  EvaluatedSample sample;
  for (const std::string_view name : {"key", "queries"})
    if (sample.key.empty()) sample.key = valid_utf8(columns.cell(row, name));
  for (const std::string_view name : {"pass", "passed"}) {
    const std::string_view cell = columns.cell(row, name);
    if (cell.empty() || sample.right) continue;
    sample.right = verdict_of(cell);
    sample.unclear = sample.right ? std::string() : valid_utf8(cell);
  }
  sample.output = csv_output(columns, row);
  return sample;
}

}  // namespace ulpscope
