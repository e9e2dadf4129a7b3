#include "anomaly/inspect.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "anomaly/periodic_tail.hpp"
#include "anomaly/text_rules.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/json_lexer.hpp"
#include "outputs/code_points.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostTokens = 4'000'000;  // of a vocabulary
// Tokens of more categories than this at one position are no text.
constexpr size_t kMostCategories = 2;

SymptomHit token_hit(Symptom label, std::string_view rule, size_t at) {
  SymptomHit hit;
  hit.label = label;
  hit.rule = rule;
  hit.unit = Unit::token;
  hit.at = static_cast<int64_t>(at);
  return hit;
}

void find_token_repetition(const ModelOutput& output, const Thresholds& limits,
                           std::vector<SymptomHit>& hits) {
  const std::vector<int64_t>& ids = output.tokens.ids;
  const bool stopped = output.finish == Finish::stop;
  const double repeats = stopped ? limits.token_repeats_stopped : limits.token_repeats;
  const double span = stopped ? limits.token_span_stopped : limits.token_span;
  const auto never = [](size_t, size_t) { return false; };
  const auto most = static_cast<size_t>(limits.token_period);
  size_t size = ids.size();
  auto tail = periodic_tail(ids, most, repeats, span, never);
  // An output that ended by itself has an end token behind its loop.
  if (!tail && stopped && size > 0) {
    const std::vector<int64_t> before(ids.begin(), ids.end() - 1);
    tail = periodic_tail(before, most, repeats, span, never);
    size = before.size();
  }
  if (!tail) return;
  const size_t whole_repeats = tail->span / tail->period;
  SymptomHit hit = token_hit(Symptom::repetition, "tokens", size - tail->span);
  hit.values = {{"period", static_cast<double>(tail->period)},
                {"span", static_cast<double>(tail->span)},
                {"repeats", static_cast<double>(whole_repeats)}};
  hits.push_back(std::move(hit));
}

void find_bad_logprob(const Logprobs& logprobs, const Thresholds& limits, std::vector<SymptomHit>& hits) {
  int64_t count = 0;
  size_t first = 0;
  for (size_t i = 0; i < logprobs.chosen.size(); ++i) {
    const ChosenLogprob& chosen = logprobs.chosen[i];
    // Minus infinity is a probability of 0; NaN fails the comparison.
    if (!chosen.known || chosen.value <= limits.logprob_above) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return;
  SymptomHit hit = token_hit(Symptom::bad_logprob, "logprob", first);
  hit.values = {{"value", logprobs.chosen[first].value}, {"count", static_cast<double>(count)}};
  hits.push_back(std::move(hit));
}

// Whether the most likely tokens of a position are unlikely, and of many kinds where kinds are known.
bool is_unsure(const Logprobs& logprobs, size_t position, const InspectionOptions& options) {
  const size_t begin = position == 0 ? 0 : logprobs.ends[position - 1], end = logprobs.ends[position];
  if (end - begin < 2) return false;
  double sum = 0;
  std::set<int32_t> categories;
  for (size_t k = begin; k < end; ++k) {
    const Alternative& each = logprobs.alternatives[k];
    sum += std::exp(each.logprob);
    if (options.categories && each.id >= 0)
      if (const int32_t category = options.categories->category(each.id); category > 0)
        categories.insert(category);
  }
  return sum < options.thresholds.confidence_sum &&
         (!options.categories || categories.size() > kMostCategories);
}

void find_low_confidence(const Logprobs& logprobs, const InspectionOptions& options,
                         std::vector<SymptomHit>& hits) {
  const Thresholds& limits = options.thresholds;
  const auto window = static_cast<size_t>(std::max(limits.confidence_window, 1.0));
  const auto step = static_cast<size_t>(std::max(limits.confidence_step, 1.0));
  const size_t size = logprobs.ends.size();
  if (size < window) return;
  std::vector<size_t> unsure_before(size + 1, 0);
  for (size_t i = 0; i < size; ++i)
    unsure_before[i + 1] = unsure_before[i] + (is_unsure(logprobs, i, options) ? 1 : 0);
  int64_t windows = 0;
  SymptomHit hit = token_hit(Symptom::low_confidence, "windows", 0);
  for (size_t begin = 0; begin + window <= size; begin += step) {
    const double share = static_cast<double>(unsure_before[begin + window] - unsure_before[begin]) /
                         static_cast<double>(window);
    if (share <= limits.confidence_share) continue;
    if (windows++ > 0) continue;
    hit.at = static_cast<int64_t>(begin);
    hit.values = {{"share", share}};
  }
  if (windows == 0) return;
  hit.values.emplace_back("windows", static_cast<double>(windows));
  hits.push_back(std::move(hit));
}

}  // namespace

int64_t length_of(const ModelOutput& output, bool in_tokens) {
  if (in_tokens) return static_cast<int64_t>(output.tokens.size());
  return output.text ? count_code_points(*output.text) : 0;
}

OutputFindings inspect_output(const ModelOutput& output, const InspectionOptions& options,
                              std::optional<int64_t> golden_length) {
  OutputFindings findings;
  std::vector<SymptomHit>& hits = findings.hits;
  const Thresholds& limits = options.thresholds;
  find_bad_logprob(output.logprobs, limits, hits);
  if (output.text) {
    const InspectedText text = inspected_text(*output.text, output.finish);
    find_white_space(text, limits, hits);
    find_garbled(text, limits, hits);
    find_repetition(text, limits, hits);
    find_languages(text, output.prompt.value_or(""), limits, hits);
  } else if (output.has_tokens && output.tokens.size() == 0) {
    hits.push_back(token_hit(Symptom::empty, "no_tokens", 0));
  }
  find_token_repetition(output, limits, hits);
  const int64_t length = length_of(output, output.has_tokens);
  if (golden_length && output.finish == Finish::stop &&
      static_cast<double>(length) < limits.early_stop_share * static_cast<double>(*golden_length)) {
    SymptomHit hit;
    hit.label = Symptom::early_stop;
    hit.rule = "length";
    hit.values = {{"length", static_cast<double>(length)},
                  {"golden_length", static_cast<double>(*golden_length)}};
    hits.push_back(std::move(hit));
  }
  if (output.finish == Finish::length) {
    SymptomHit hit;
    hit.label = Symptom::truncated;
    hit.rule = "finish_reason";
    hits.push_back(std::move(hit));
  }
  find_low_confidence(output.logprobs, options, hits);
  std::stable_sort(hits.begin(), hits.end(),
                   [](const SymptomHit& a, const SymptomHit& b) { return a.label < b.label; });
  return findings;
}

Status TokenCategories::read(const std::string& path) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  JsonLexer lexer(file);
  std::unordered_map<std::string, int32_t> numbers;
  const auto number_of = [&](const std::string& name) {
    const std::string word = to_lower(name);
    if (word.find("punct") != std::string::npos || word.find("space") != std::string::npos) return 0;
    return numbers.emplace(word, static_cast<int32_t>(numbers.size()) + 1).first->second;
  };
  const auto broken = [&] {
    return Error{Code::format, printable(path) + ": byte " + std::to_string(lexer.offset()) +
                                   ": expected token numbers and categories"};
  };
  const auto keep = [&](std::optional<int64_t> token, int32_t category) {
    if (!token || categories_.size() >= kMostTokens) return false;
    categories_[*token] = category;
    return true;
  };
  if (lexer.next() != JsonToken::begin_object) return broken();
  for (JsonToken token = lexer.next(); token != JsonToken::end_object; token = lexer.next()) {
    if (token != JsonToken::key) return broken();
    const std::string name(lexer.text());
    const JsonToken value = lexer.next();
    if (value == JsonToken::text || value == JsonToken::number) {
      if (!keep(parse_int(name), number_of(std::string(lexer.text())))) return broken();
      continue;
    }
    if (value != JsonToken::begin_array) return broken();
    for (JsonToken each = lexer.next(); each != JsonToken::end_array; each = lexer.next())
      if (each != JsonToken::number || !keep(json_int(lexer.text()), number_of(name))) return broken();
  }
  return {};
}

int32_t TokenCategories::category(int64_t token) const {
  const auto found = categories_.find(token);
  return found == categories_.end() ? 0 : found->second;
}

}  // namespace ulpscope
