#include "badcase/badcase.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>

#include "badcase/mcnemar.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

using Places = std::unordered_map<std::string, std::deque<size_t>>;

// Several judgements of one sample are told apart by their filters where a side has several.
bool has_filters(const EvaluationSet& set) {
  std::set<std::string> filters;
  for (const SampleEntry& sample : set.samples()) {
    filters.insert(sample.filter);
    if (filters.size() > 1) return true;
  }
  return false;
}

std::string key_of(const SampleEntry& sample, bool with_filter) {
  return with_filter && !sample.filter.empty() ? sample.key + "/" + sample.filter : sample.key;
}

Places places_of(const EvaluationSet& set, bool with_filter) {
  Places places;
  for (size_t i = 0; i < set.samples().size(); ++i)
    places[key_of(set.samples()[i], with_filter)].push_back(i);
  return places;
}

void tell_duplicates(const Places& places, std::string_view side, Diagnostics& diagnostics) {
  int64_t several = 0;
  std::string example;
  for (const auto& [key, list] : places) {
    if (list.size() < 2) continue;
    ++several;
    if (example.empty() || is_naturally_before(key, example)) example = key;
  }
  if (several > 0)
    diagnostics.add({Severity::warning, Code::format, std::string(side),
                     count_text(several) + " keys are there several times, such as '" + printable(example) +
                         "': the n-th is paired with the n-th"});
}

struct SamplePair {
  size_t golden, problem;
};

int kind_rank(DiffKind kind) {
  switch (kind) {
    case DiffKind::hard:
      return 0;
    case DiffKind::soft:
      return 1;
    case DiffKind::unknown:
      return 2;
    case DiffKind::near_tie:
      return 3;
  }
  return 2;
}

// Inputs equal, stable, hard first, short first; what is not known comes behind what is.
bool is_better(const BadCase& a, const BadCase& b) {
  const auto rank = [](const BadCase& each) {
    const int unstable = !each.stable ? 1 : *each.stable ? 0 : 2;
    const int64_t length = each.diff.position ? each.prompt_length.value_or(0) + *each.diff.position
                                              : std::numeric_limits<int64_t>::max();
    return std::tuple(each.input_mismatch, unstable, kind_rank(each.diff.kind), length);
  };
  const auto mine = rank(a), theirs = rank(b);
  return mine != theirs ? mine < theirs : is_naturally_before(a.key, b.key);
}

bool same_output(const ModelOutput& a, const ModelOutput& b) {
  if (a.has_tokens && b.has_tokens) return a.tokens.ids == b.tokens.ids && a.tokens.texts == b.tokens.texts;
  if (a.text && b.text) return *a.text == *b.text;
  return true;
}

// Wrong in every repeat, with the same output as far as outputs are known.
std::optional<bool> is_stable(const std::string& key, const ModelOutput& output,
                              const std::vector<EvaluationSet>& repeats, const std::vector<Places>& places,
                              Diagnostics& diagnostics) {
  std::optional<bool> stable;
  for (size_t i = 0; i < repeats.size(); ++i) {
    const auto found = places[i].find(key);
    if (found == places[i].end()) continue;
    const auto sample = repeats[i].load(repeats[i].samples()[found->second.front()]);
    if (!sample.ok()) {
      diagnostics.add(Severity::error, sample.error());
      continue;
    }
    const bool again = sample->right == std::optional(false) && same_output(output, sample->output);
    stable = stable.value_or(true) && again;
  }
  return stable;
}

BadCase examine(const std::string& key, const EvaluatedSample& golden, const EvaluatedSample& problem,
                const BadcaseOptions& options) {
  BadCase bad;
  bad.key = key;
  if (golden.output.prompt_ids)
    bad.prompt_length = static_cast<int64_t>(golden.output.prompt_ids->size());
  else if (problem.output.prompt_ids)
    bad.prompt_length = static_cast<int64_t>(problem.output.prompt_ids->size());
  bad.diff = compare_outputs(golden.output, problem.output, options.diff);
  bad.input_mismatch = bad.diff.status == DiffStatus::input_mismatch;
  std::optional<int64_t> golden_length;
  if (golden.output.has_tokens == problem.output.has_tokens &&
      (golden.output.has_tokens || golden.output.text))
    golden_length = length_of(golden.output, golden.output.has_tokens);
  bad.has_text = problem.output.text.has_value();
  bad.findings = inspect_output(problem.output, {}, golden_length);
  return bad;
}

// Counts into report; gives the pairs that only golden answers right.
std::vector<SamplePair> pair_samples(const EvaluationSet& golden, const EvaluationSet& problem,
                                     bool with_filter, Diagnostics& diagnostics, BadcaseReport& report) {
  Places waiting = places_of(problem, with_filter);
  tell_duplicates(places_of(golden, with_filter), "golden", diagnostics);
  tell_duplicates(waiting, "problem", diagnostics);
  std::vector<SamplePair> bad;
  for (size_t i = 0; i < golden.samples().size(); ++i) {
    const SampleEntry& sample = golden.samples()[i];
    std::string key = key_of(sample, with_filter);
    const auto found = waiting.find(key);
    if (found == waiting.end() || found->second.empty()) {
      report.only_golden.push_back(std::move(key));
      continue;
    }
    const size_t other = found->second.front();
    found->second.pop_front();
    const SampleEntry& theirs = problem.samples()[other];
    if (!sample.right || !theirs.right) {
      ++report.unjudged;
      continue;
    }
    ++report.paired;
    report.golden_right += *sample.right;
    report.problem_right += *theirs.right;
    report.both_wrong += !*sample.right && !*theirs.right;
    if (*sample.right && !*theirs.right) bad.push_back({i, other});
    if (!*sample.right && *theirs.right) report.fixed.push_back(std::move(key));
  }
  for (const auto& [key, left] : waiting)
    report.only_problem.insert(report.only_problem.end(), left.size(), key);
  for (auto* list : {&report.only_golden, &report.only_problem, &report.fixed})
    std::sort(list->begin(), list->end(), is_naturally_before);
  return bad;
}

}  // namespace

bool is_naturally_before(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (!digit(a[i]) || !digit(b[k])) {
      if (a[i] != b[k]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[k]);
      ++i;
      ++k;
      continue;
    }
    const auto number = [&](std::string_view text, size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const size_t begin = at;
      while (at < text.size() && digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string_view left = number(a, i), right = number(b, k);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  // Equal but for zeros in front: any fixed order.
  return a.size() - i != b.size() - k ? a.size() - i < b.size() - k : a < b;
}

std::string_view BadcaseReport::verdict() const {
  if (!(p < kSignificance)) return "not_significant";
  return b > c ? "regression" : "improvement";
}

Result<BadcaseReport> find_bad_cases(const BadcaseOptions& options, const WorkTools& tools) {
  const auto read = [&](const std::vector<std::string>& paths) {
    return EvaluationSet::read(paths, options.judges, tools.diagnostics, tools.cancel);
  };
  ULPSCOPE_ASSIGN(const EvaluationSet golden, read(options.golden));
  ULPSCOPE_ASSIGN(const EvaluationSet problem, read(options.problem));
  const bool with_filter = has_filters(golden) || has_filters(problem);
  std::vector<EvaluationSet> repeats;
  std::vector<Places> repeat_places;
  for (const std::string& path : options.repeats) {
    ULPSCOPE_ASSIGN(EvaluationSet set, read({path}));
    repeat_places.push_back(places_of(set, with_filter));
    repeats.push_back(std::move(set));
  }
  BadcaseReport report;
  const std::vector<SamplePair> bad = pair_samples(golden, problem, with_filter, tools.diagnostics, report);
  if (report.paired == 0 && !tools.cancel.requested())
    return Error{Code::io, report.unjudged > 0 ? "no pair is judged right or wrong on both sides"
                                               : "no sample of the problem run has a key of the golden run"};
  report.b = static_cast<int64_t>(bad.size());
  report.c = static_cast<int64_t>(report.fixed.size());
  report.p = mcnemar_p(report.b, report.c);
  if (!(report.p < kSignificance)) report.needed = samples_needed(report.b, report.c, report.paired);
  if (report.unjudged > 0)
    tools.diagnostics.add(
        {Severity::error, Code::format, "",
         count_text(report.unjudged) + " pairs are not judged right or wrong on both sides"});
  for (const SamplePair& pair : bad) {
    if (tools.cancel.requested()) break;
    const auto mine = golden.load(golden.samples()[pair.golden]);
    const auto theirs = problem.load(problem.samples()[pair.problem]);
    if (!mine.ok()) return mine.error();
    if (!theirs.ok()) return theirs.error();
    const std::string key = key_of(golden.samples()[pair.golden], with_filter);
    BadCase each = examine(key, *mine, *theirs, options);
    each.stable = is_stable(key, theirs->output, repeats, repeat_places, tools.diagnostics);
    report.badcases.push_back(std::move(each));
  }
  std::sort(report.badcases.begin(), report.badcases.end(), is_better);
  if (options.top && report.badcases.size() > static_cast<size_t>(*options.top))
    report.badcases.resize(static_cast<size_t>(*options.top));
  return report;
}

}  // namespace ulpscope
