#include "first_token/report.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

// Log-probabilities are printed with six digits behind the point: more is noise of the subtraction.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

class JsonWriter {
 public:
  void text(std::string_view name, std::string_view value) {
    begin(name);
    append_json_string(out, value);
  }
  void text_or_null(std::string_view name, std::string_view value) {
    if (!value.empty()) return text(name, value);
    begin(name);
    out += "null";
  }
  void number(std::string_view name, int64_t value) {
    begin(name);
    out += std::to_string(value);
  }
  void number(std::string_view name, std::optional<int64_t> value) {
    begin(name);
    out += value ? std::to_string(*value) : "null";
  }
  void real(std::string_view name, std::optional<double> value) {
    begin(name);
    if (value)
      append_json_number(out, *value);
    else
      out += "null";
  }
  void truth(std::string_view name, bool value) { raw(name, value ? "true" : "false"); }
  void raw(std::string_view name, std::string_view value) {
    begin(name);
    out += value;
  }
  void begin(std::string_view name) {
    if (out.back() != '{') out += ", ";
    append_json_string(out, name);
    out += ": ";
  }
  std::string out = "{";
};

void append_token(std::string& out, const ShownToken& token) {
  if (!token.known)
    out += "null";
  else if (token.id)
    out += std::to_string(*token.id);
  else
    append_json_string(out, token.text);
}

std::string decoded(const ShownToken& token, const FirstTokenReport& report) {
  if (!token.decoded.empty() || !token.id || !report.tokenizer) return token.decoded;
  return report.tokenizer->text(*token.id);
}

void append_context(std::string& out, const TokenList& tokens) {
  out += '[';
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) out += ", ";
    append_token(out, shown_token(tokens, i));
  }
  out += ']';
}

void write_tokens(JsonWriter& json, const RequestDiff& request, const FirstTokenReport& report) {
  const TokenDiff& diff = request.diff;
  json.begin("golden_token");
  append_token(json.out, diff.golden_token);
  json.begin("problem_token");
  append_token(json.out, diff.problem_token);
  const std::string golden = decoded(diff.golden_token, report),
                    problem = decoded(diff.problem_token, report);
  if (!golden.empty()) json.text("golden_text", golden);
  if (!problem.empty()) json.text("problem_text", problem);
}

void write_context(JsonWriter& json, const TokenDiff& diff) {
  json.begin("context");
  json.out += "{\"begin\": " + std::to_string(diff.context_begin) + ", \"golden\": ";
  if (diff.position) {
    append_context(json.out, diff.golden_context);
    json.out += ", \"problem\": ";
    append_context(json.out, diff.problem_context);
  } else {
    append_json_string(json.out, diff.golden_around);
    json.out += ", \"problem\": ";
    append_json_string(json.out, diff.problem_around);
  }
  json.out += "}";
}

// Which step makes token k where no ledger says it.
std::string step_rule(int64_t k) {
  return "step = o + c - 1 + " + std::to_string(k) +
         ", with the prefill in c chunks (1 where the prompt fits max_num_batched_tokens) and o steps "
         "counted "
         "before this request; one request at a time, no speculative decoding (else a step ledger tells)";
}

std::string step_text(const std::optional<LedgerAnswer>& answer) {
  return answer && answer->step ? std::to_string(*answer->step) : "null";
}

std::string steps_text(const std::optional<LedgerAnswer>& answer) {
  if (!answer) return "null";
  std::string out = "[";
  for (const int64_t step : answer->prefill_steps) out += (out.size() > 1 ? ", " : "") + std::to_string(step);
  return out + "]";
}

void write_steps(JsonWriter& json, const RequestDiff& request, bool has_ledger) {
  const TokenDiff& diff = request.diff;
  if (!diff.position || diff.truncated_by_max_tokens) {
    json.raw("token_range", "null");
    json.raw("dump_step", "null");
    return;
  }
  const std::string k = std::to_string(*diff.position);
  json.raw("token_range", "[" + k + ", " + k + "]");
  if (!has_ledger) return json.text("dump_step", step_rule(*diff.position));
  json.raw("dump_step", "{\"golden\": " + step_text(request.golden_ledger) +
                            ", \"problem\": " + step_text(request.problem_ledger) + "}");
  json.raw("prefill_steps", "{\"golden\": " + steps_text(request.golden_ledger) +
                                ", \"problem\": " + steps_text(request.problem_ledger) + "}");
}

std::string json_of_summary(const FirstTokenSummary& summary) {
  JsonWriter json;
  json.number("pairs", summary.pairs);
  json.number("same", summary.same);
  json.number("diverged", summary.diverged);
  std::string kinds = "{";
  for (const DiffKind kind : {DiffKind::hard, DiffKind::soft, DiffKind::unknown, DiffKind::near_tie})
    kinds += (kinds.size() > 1 ? ", \"" : "\"") + std::string(to_text(kind)) +
             "\": " + std::to_string(summary.by_kind[static_cast<size_t>(kind)]);
  json.raw("by_kind", kinds + "}");
  json.number("length", summary.length);
  json.number("truncated_by_max_tokens", summary.truncated);
  json.number("input_mismatch", summary.input_mismatch);
  json.number("empty", summary.empty);
  json.number("not_comparable", summary.not_comparable);
  json.real("median_position", summary.median_position);
  json.number("minimum_position", summary.minimum_position);
  json.real("near_tie_share", summary.near_tie_share);
  return json.out + "}";
}

void append_list(std::string& out, const std::vector<std::string>& items) {
  out += "[";
  for (size_t i = 0; i < items.size(); ++i) out += (i > 0 ? ",\n    " : "\n    ") + items[i];
  out += items.empty() ? "]" : "\n  ]";
}

}  // namespace

std::string json_of_request(const RequestDiff& request, const FirstTokenReport& report) {
  const TokenDiff& diff = request.diff;
  JsonWriter json;
  if (!request.id.empty()) json.text("id", request.id);
  json.text_or_null("golden_id", request.golden_id);
  json.text_or_null("problem_id", request.problem_id);
  json.text_or_null("prompt", request.prompt);
  json.number("index", request.choice);
  json.number("order", request.order);
  json.text("status", to_text(diff.status));
  json.number("position", diff.position);
  if (diff.char_position) json.number("char_position", diff.char_position);
  if (diff.status == DiffStatus::input_mismatch) json.number("input_position", diff.input_position);
  json.number("golden_len", diff.golden_length);
  json.number("problem_len", diff.problem_length);
  json.text_or_null("kind", diff.kind == DiffKind::unknown ? std::string_view() : to_text(diff.kind));
  json.real("golden_gap", diff.golden_gap ? std::optional(rounded(*diff.golden_gap)) : std::nullopt);
  json.number("first_logprob_drift", diff.first_logprob_drift);
  json.number("logprobs_left_out", diff.logprobs_left_out);
  if (diff.position) write_tokens(json, request, report);
  if (diff.status == DiffStatus::length) json.truth("truncated_by_max_tokens", diff.truncated_by_max_tokens);
  if (diff.position || diff.char_position) write_context(json, diff);
  write_steps(json, request, report.has_ledger);
  json.begin("advice");
  json.out += '[';
  bool first = true;
  for (const std::string& advice : advice_of(diff)) {
    if (!first) json.out += ", ";
    first = false;
    append_json_string(json.out, advice);
  }
  json.out += ']';
  return json.out + "}";
}

FirstTokenSummary summary_of(const FirstTokenReport& report) {
  FirstTokenSummary summary;
  std::vector<int64_t> positions;
  for (const RequestDiff& request : report.requests) {
    const TokenDiff& diff = request.diff;
    ++summary.pairs;
    summary.same += diff.status == DiffStatus::same;
    summary.diverged += diff.status == DiffStatus::diverged;
    summary.length += diff.status == DiffStatus::length;
    summary.truncated += diff.status == DiffStatus::length && diff.truncated_by_max_tokens;
    summary.input_mismatch += diff.status == DiffStatus::input_mismatch;
    summary.empty += diff.status == DiffStatus::empty;
    summary.not_comparable += diff.status == DiffStatus::not_comparable;
    if (diff.status == DiffStatus::diverged) ++summary.by_kind[static_cast<size_t>(diff.kind)];
    if (diff.position && is_difference(diff)) positions.push_back(*diff.position);
  }
  std::sort(positions.begin(), positions.end());
  if (!positions.empty()) {
    const size_t middle = positions.size() / 2;
    summary.minimum_position = positions.front();
    summary.median_position = positions.size() % 2 == 1
                                  ? static_cast<double>(positions[middle])
                                  : static_cast<double>(positions[middle - 1] + positions[middle]) / 2;
  }
  if (summary.diverged > 0)
    summary.near_tie_share =
        rounded(static_cast<double>(summary.by_kind[static_cast<size_t>(DiffKind::near_tie)]) /
                static_cast<double>(summary.diverged));
  return summary;
}

std::vector<std::string> advice_of(const TokenDiff& diff) {
  // A drift this many tokens before the divergence is older than the divergence.
  constexpr int64_t kLongBefore = 4;
  std::vector<std::string> advice;
  const auto say = [&](const char* text) { advice.emplace_back(text); };
  if (diff.status == DiffStatus::input_mismatch)
    say("the inputs differ: align them first (ulpscope config-check), outputs were not compared");
  if (diff.status == DiffStatus::not_comparable)
    say("one side has tokens, the other none: run both with token ids (return_token_ids)");
  if (diff.status == DiffStatus::empty) say("neither side gave a token: nothing was compared");
  if (diff.char_position)
    say("compared as text: run again with token ids (return_token_ids or return_tokens_as_token_ids)");
  if (diff.truncated_by_max_tokens)
    say("one side was only cut off by max_tokens: no numeric difference, run both with the same max_tokens");
  else if (diff.ended_early)
    say("one side ended here by an end token, the other went on");
  if (!diff.position || diff.truncated_by_max_tokens) return advice;
  const bool drifts_before =
      diff.first_logprob_drift && *diff.position - *diff.first_logprob_drift >= kLongBefore;
  if (*diff.position == 0)
    say("the first token differs: dump the prefill");
  else if (diff.kind == DiffKind::hard || drifts_before)
    say("dump the prefill and the step of this token");
  else if (diff.kind == DiffKind::near_tie)
    say("a near tie is normal rounding: choose another case");
  else
    say("dump the step of this token");
  return advice;
}

std::string json_of(const FirstTokenReport& report) {
  std::string out = "{\n  \"schema\": \"ulpscope.first_token/1\",\n  \"pairing\": \"" +
                    std::string(to_text(report.pairing)) + "\",\n  \"tie_gap\": ";
  append_json_number(out, report.options.tie_gap);
  out += ",\n  \"drift\": ";
  append_json_number(out, report.options.drift);
  out += ",\n  \"requests\": [";
  for (size_t i = 0; i < report.requests.size(); ++i)
    out += (i > 0 ? ",\n    " : "\n    ") + json_of_request(report.requests[i], report);
  out += report.requests.empty() ? "]" : "\n  ]";
  out += ",\n  \"unpaired_golden\": " + std::to_string(report.only_golden) +
         ",\n  \"unpaired_problem\": " + std::to_string(report.only_problem) +
         ",\n  \"summary\": " + json_of_summary(summary_of(report)) + "\n}\n";
  return out;
}

std::string json_of(const RunsReport& report) {
  std::vector<std::string> requests;
  int64_t inconsistent = 0, varied = 0;
  for (const RepeatedRequest& request : report.requests) {
    const bool several = request.distinct > 1;
    inconsistent += several && request.greedy;
    varied += several && !request.greedy;
    JsonWriter json;
    json.text_or_null("id", request.id);
    json.text_or_null("prompt", request.prompt);
    json.number("index", request.choice);
    json.number("order", request.order);
    json.number("runs", request.runs);
    json.number("distinct", request.distinct);
    json.number("first_divergence", request.first_divergence);
    json.text("status", !several ? "same" : request.greedy ? "inconsistent" : "sampled");
    requests.push_back(json.out + "}");
  }
  std::string out = "{\n  \"schema\": \"ulpscope.first_token/1\",\n  \"pairing\": \"" +
                    std::string(to_text(report.pairing)) + "\",\n  \"runs\": " + std::to_string(report.runs) +
                    ",\n  \"requests\": ";
  append_list(out, requests);
  JsonWriter summary;
  summary.number("requests", static_cast<int64_t>(report.requests.size()));
  summary.number("inconsistent", inconsistent);
  summary.number("sampled", varied);
  out +=
      ",\n  \"unpaired\": " + std::to_string(report.unpaired) + ",\n  \"summary\": " + summary.out + "}\n}\n";
  return out;
}

}  // namespace ulpscope
