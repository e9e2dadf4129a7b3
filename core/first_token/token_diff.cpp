#include "first_token/token_diff.hpp"

#include <algorithm>
#include <cmath>

#include "outputs/code_points.hpp"

namespace ulpscope {
namespace {

// A server writes this for a log-probability of minus infinity.
constexpr double kClampedLogprob = -9999.0;
// From this probability on a token is no near thing.
constexpr double kSureProbability = 0.9;

enum class Unit { ids, spelled, text, none };

Unit unit_of(const ModelOutput& golden, const ModelOutput& problem) {
  if (golden.has_tokens && problem.has_tokens) {
    const TokenList &a = golden.tokens, &b = problem.tokens;
    const bool ids = (!a.ids.empty() || a.size() == 0) && (!b.ids.empty() || b.size() == 0);
    if (ids) return Unit::ids;
    const bool spelled = (!a.texts.empty() || a.size() == 0) && (!b.texts.empty() || b.size() == 0);
    if (spelled) return Unit::spelled;
  }
  return golden.text && problem.text ? Unit::text : Unit::none;
}

bool same_spelling(const TokenList& a, const TokenList& b, size_t i) {
  const bool bytes = i < a.bytes.size() && i < b.bytes.size() && !a.bytes[i].empty() && !b.bytes[i].empty();
  return bytes ? a.bytes[i] == b.bytes[i] : a.texts[i] == b.texts[i];
}

bool is_token(const Alternative& alternative, const TokenList& tokens, size_t i) {
  if (alternative.id >= 0 && i < tokens.ids.size()) return alternative.id == tokens.ids[i];
  if (i >= tokens.texts.size()) return false;
  if (!alternative.bytes.empty() && i < tokens.bytes.size() && !tokens.bytes[i].empty())
    return alternative.bytes == tokens.bytes[i];
  return alternative.text == tokens.texts[i];
}

bool is_named(const Alternative& alternative) { return alternative.id >= 0 || !alternative.text.empty(); }

// gap = logprob(golden's token) - max over the other alternatives of logprob
void judge_divergence(const ModelOutput& golden, const ModelOutput& problem, size_t at,
                      const DiffOptions& options, TokenDiff& diff) {
  const Logprobs& logprobs = golden.logprobs;
  if (at >= logprobs.chosen.size() || !logprobs.chosen[at].known) return;
  const double chosen = logprobs.chosen[at].value;
  const bool is_sure = std::exp(chosen) >= kSureProbability;
  std::optional<double> best, of_problem;
  bool named = true;
  if (at < logprobs.ends.size()) {
    const size_t begin = at == 0 ? 0 : logprobs.ends[at - 1];
    for (size_t k = begin; k < logprobs.ends[at]; ++k) {
      const Alternative& each = logprobs.alternatives[k];
      named &= is_named(each);
      if (is_named(each) ? is_token(each, golden.tokens, at) : k == begin) continue;
      if (!best || each.logprob > *best) best = each.logprob;
      if (is_token(each, problem.tokens, at)) of_problem = each.logprob;
    }
  }
  if (best) diff.golden_gap = chosen - *best;
  if (is_sure || (best && named && !of_problem))
    diff.kind = DiffKind::hard;
  else if (best && named)
    // The problem's token may be one of several that are equally likely.
    diff.kind =
        *diff.golden_gap <= options.tie_gap && *of_problem >= *best ? DiffKind::near_tie : DiffKind::soft;
}

bool is_usable(const ChosenLogprob& logprob) {
  return std::isfinite(logprob.value) && logprob.value > kClampedLogprob;
}

void find_drift(const Logprobs& golden, const Logprobs& problem, size_t end, double limit, TokenDiff& diff) {
  end = std::min({end, golden.chosen.size(), problem.chosen.size()});
  for (size_t i = 0; i < end; ++i) {
    const ChosenLogprob &a = golden.chosen[i], &b = problem.chosen[i];
    if (!a.known || !b.known) continue;
    if (!is_usable(a) || !is_usable(b)) {
      ++diff.logprobs_left_out;
      continue;
    }
    if (!diff.first_logprob_drift && std::fabs(a.value - b.value) > limit)
      diff.first_logprob_drift = static_cast<int64_t>(i);
  }
}

template <class T>
std::vector<T> part_of(const std::vector<T>& list, size_t begin, size_t end) {
  const auto at = [&](size_t i) {
    return list.begin() + static_cast<std::ptrdiff_t>(std::min(i, list.size()));
  };
  return {at(begin), at(end)};
}

TokenList part_of(const TokenList& tokens, size_t begin, size_t end) {
  return {part_of(tokens.ids, begin, end), part_of(tokens.texts, begin, end),
          part_of(tokens.bytes, begin, end)};
}

void set_context(const ModelOutput& golden, const ModelOutput& problem, size_t at, int64_t width,
                 TokenDiff& diff) {
  const auto reach = static_cast<size_t>(std::max<int64_t>(width, 0));
  const size_t begin = at - std::min(at, reach);
  diff.context_begin = static_cast<int64_t>(begin);
  diff.golden_context = part_of(golden.tokens, begin, at + reach + 1);
  diff.problem_context = part_of(problem.tokens, begin, at + reach + 1);
}

void set_position(size_t at, size_t golden_size, size_t problem_size, const ModelOutput& golden,
                  const ModelOutput& problem, TokenDiff& diff) {
  if (at == golden_size && at == problem_size) {
    diff.status = at == 0 ? DiffStatus::empty : DiffStatus::same;
    return;
  }
  diff.status = at == golden_size || at == problem_size ? DiffStatus::length : DiffStatus::diverged;
  const ModelOutput& shorter = golden_size < problem_size ? golden : problem;
  if (diff.status == DiffStatus::length) {
    diff.truncated_by_max_tokens = shorter.finish == Finish::length;
    diff.ended_early = shorter.finish == Finish::stop;
  } else if (golden_size != problem_size) {
    const size_t shorter_size = std::min(golden_size, problem_size);
    diff.ended_early = shorter.finish == Finish::stop && at + 1 >= shorter_size;
  }
}

void compare_tokens(const ModelOutput& golden, const ModelOutput& problem, Unit unit,
                    const DiffOptions& options, TokenDiff& diff) {
  const TokenList &a = golden.tokens, &b = problem.tokens;
  const size_t both = std::min(a.size(), b.size());
  size_t at = 0;
  if (unit == Unit::ids)
    at = static_cast<size_t>(
        std::mismatch(a.ids.begin(), a.ids.begin() + static_cast<std::ptrdiff_t>(both), b.ids.begin()).first -
        a.ids.begin());
  else
    while (at < both && same_spelling(a, b, at)) ++at;
  diff.golden_length = static_cast<int64_t>(a.size());
  diff.problem_length = static_cast<int64_t>(b.size());
  set_position(at, a.size(), b.size(), golden, problem, diff);
  find_drift(golden.logprobs, problem.logprobs, at, options.drift, diff);
  if (diff.status != DiffStatus::diverged && diff.status != DiffStatus::length) return;
  diff.position = static_cast<int64_t>(at);
  diff.golden_token = shown_token(a, at);
  diff.problem_token = shown_token(b, at);
  set_context(golden, problem, at, options.context, diff);
  if (diff.status == DiffStatus::diverged) judge_divergence(golden, problem, at, options, diff);
}

size_t first_difference(const std::u32string& a, const std::u32string& b) {
  size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  return at;
}

void compare_texts(const ModelOutput& golden, const ModelOutput& problem, const DiffOptions& options,
                   TokenDiff& diff) {
  const std::u32string a = code_points(*golden.text), b = code_points(*problem.text);
  const size_t at = first_difference(a, b);
  diff.golden_length = static_cast<int64_t>(a.size());
  diff.problem_length = static_cast<int64_t>(b.size());
  set_position(at, a.size(), b.size(), golden, problem, diff);
  if (diff.status != DiffStatus::diverged && diff.status != DiffStatus::length) return;
  diff.char_position = static_cast<int64_t>(at);
  const auto reach = static_cast<size_t>(std::max<int64_t>(options.context, 0));
  const size_t begin = at - std::min(at, reach);
  diff.context_begin = static_cast<int64_t>(begin);
  const auto around = [&](const std::u32string& text) {
    return utf8_of(std::u32string_view(text).substr(std::min(begin, text.size()), at + reach + 1 - begin));
  };
  diff.golden_around = around(a);
  diff.problem_around = around(b);
}

// Whether the prompts differ; sets where.
bool differs_in_input(const ModelOutput& golden, const ModelOutput& problem, TokenDiff& diff) {
  if (golden.prompt_ids && problem.prompt_ids) {
    const auto &a = *golden.prompt_ids, &b = *problem.prompt_ids;
    if (a == b) return false;
    const size_t both = std::min(a.size(), b.size());
    size_t at = 0;
    while (at < both && a[at] == b[at]) ++at;
    diff.input_position = static_cast<int64_t>(at);
    return true;
  }
  return golden.prompt && problem.prompt && *golden.prompt != *problem.prompt;
}

}  // namespace

std::string_view to_text(DiffStatus status) {
  switch (status) {
    case DiffStatus::same:
      return "same";
    case DiffStatus::diverged:
      return "diverged";
    case DiffStatus::length:
      return "length";
    case DiffStatus::input_mismatch:
      return "input_mismatch";
    case DiffStatus::empty:
      return "empty";
    case DiffStatus::not_comparable:
      return "not_comparable";
  }
  return "";
}

std::string_view to_text(DiffKind kind) {
  switch (kind) {
    case DiffKind::hard:
      return "hard";
    case DiffKind::soft:
      return "soft";
    case DiffKind::near_tie:
      return "near_tie";
    case DiffKind::unknown:
      return "unknown";
  }
  return "";
}

ShownToken shown_token(const TokenList& tokens, size_t index) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  ShownToken shown;
  shown.known = index < tokens.size();
  if (!shown.known) return shown;
  if (index < tokens.texts.size()) shown.decoded = tokens.texts[index];
  if (index < tokens.ids.size()) {
    shown.id = tokens.ids[index];
    return shown;
  }
  if (index >= tokens.bytes.size() || tokens.bytes[index].empty()) {
    shown.text = tokens.texts[index];
    return shown;
  }
  shown.text = "bytes:";
  for (const char c : tokens.bytes[index]) {
    shown.text += kHex[static_cast<unsigned char>(c) >> 4U];
    shown.text += kHex[static_cast<unsigned char>(c) & 15U];
  }
  return shown;
}

TokenDiff compare_outputs(const ModelOutput& golden, const ModelOutput& problem, const DiffOptions& options) {
  TokenDiff diff;
  diff.golden_length = static_cast<int64_t>(golden.tokens.size());
  diff.problem_length = static_cast<int64_t>(problem.tokens.size());
  if (differs_in_input(golden, problem, diff)) {
    diff.status = DiffStatus::input_mismatch;
    return diff;
  }
  const Unit unit = unit_of(golden, problem);
  if (unit == Unit::none) {
    diff.status = DiffStatus::not_comparable;
  } else if (unit == Unit::text) {
    compare_texts(golden, problem, options, diff);
  } else {
    compare_tokens(golden, problem, unit, options, diff);
  }
  return diff;
}

bool is_difference(const TokenDiff& diff) {
  switch (diff.status) {
    case DiffStatus::diverged:
    case DiffStatus::input_mismatch:
      return true;
    case DiffStatus::length:
      return !diff.truncated_by_max_tokens;
    default:
      return false;
  }
}

}  // namespace ulpscope
