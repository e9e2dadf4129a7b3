#include "first_token/first_token.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.hpp"

namespace ulpscope {
namespace {

// Nothing of the outputs themselves is needed: both are known to be equal, and no log-probabilities drift.
bool is_known_same(const OutputEntry& a, const OutputEntry& b) {
  const bool alike = a.has_tokens && b.has_tokens && a.has_token_ids && b.has_token_ids &&
                     a.token_count == b.token_count && a.content == b.content;
  const bool same_prompt = a.has_prompt_ids && b.has_prompt_ids ? a.prompt_ids == b.prompt_ids
                           : a.has_prompt && b.has_prompt       ? a.prompt == b.prompt
                                                                : true;
  return alike && same_prompt && !(a.has_logprobs && b.has_logprobs);
}

TokenDiff diff_of(const OutputSet& golden, const OutputSet& problem, const OutputPair& pair,
                  const DiffOptions& options, Diagnostics& diagnostics) {
  const OutputEntry &a = golden.entries()[pair.golden], &b = problem.entries()[pair.problem];
  TokenDiff diff;
  diff.golden_length = a.token_count;
  diff.problem_length = b.token_count;
  if (is_known_same(a, b)) return diff;
  const auto mine = golden.load(a), theirs = problem.load(b);
  if (mine.ok() && theirs.ok()) return compare_outputs(*mine, *theirs, options);
  diff.status = DiffStatus::not_comparable;
  diagnostics.add(Severity::error, mine.ok() ? theirs.error() : mine.error());
  return diff;
}

std::string shown_id(const OutputSet& set, const OutputEntry& entry) {
  return std::string(entry.request_id_size > 0 ? set.request_id(entry) : set.id(entry));
}

bool is_by_id(PairingKind kind) {
  return kind == PairingKind::custom_id || kind == PairingKind::id || kind == PairingKind::key;
}

// Hard, soft, unknown, near tie; then what has no divergence, equal ones last.
int rank_of(const TokenDiff& diff) {
  switch (diff.status) {
    case DiffStatus::diverged:
      return diff.kind == DiffKind::hard      ? 0
             : diff.kind == DiffKind::soft    ? 1
             : diff.kind == DiffKind::unknown ? 2
                                              : 3;
    case DiffStatus::length:
      return 2;
    case DiffStatus::input_mismatch:
      return 4;
    case DiffStatus::not_comparable:
      return 5;
    case DiffStatus::empty:
      return 6;
    case DiffStatus::same:
      return 7;
  }
  return 7;
}

void sort_requests(std::vector<RequestDiff>& requests) {
  const auto key = [](const RequestDiff& request) {
    const TokenDiff& diff = request.diff;
    return std::tuple(rank_of(diff), diff.position.value_or(diff.char_position.value_or(0)), request.order);
  };
  std::sort(requests.begin(), requests.end(),
            [&](const RequestDiff& a, const RequestDiff& b) { return key(a) < key(b); });
}

Status ask_ledgers(const FirstTokenOptions& options, Diagnostics& diagnostics, FirstTokenReport& report) {
  const auto ask = [&](const std::string& path, auto id_of, auto keep) -> Status {
    if (path.empty()) return {};
    std::vector<LedgerQuestion> questions;
    std::vector<size_t> asked;
    for (size_t i = 0; i < report.requests.size(); ++i) {
      const RequestDiff& request = report.requests[i];
      if (!request.diff.position) continue;
      questions.push_back({id_of(request), request.choice, *request.diff.position});
      asked.push_back(i);
    }
    ULPSCOPE_ASSIGN(std::vector<LedgerAnswer> answers, ask_ledger(path, questions, diagnostics));
    for (size_t i = 0; i < asked.size(); ++i) keep(report.requests[asked[i]], std::move(answers[i]));
    return {};
  };
  report.has_ledger = !options.golden_ledger.empty() || !options.problem_ledger.empty();
  ULPSCOPE_TRY(ask(
      options.golden_ledger, [](const RequestDiff& request) { return request.golden_id; },
      [](RequestDiff& request, LedgerAnswer&& answer) { request.golden_ledger = std::move(answer); }));
  return ask(
      options.problem_ledger, [](const RequestDiff& request) { return request.problem_id; },
      [](RequestDiff& request, LedgerAnswer&& answer) { request.problem_ledger = std::move(answer); });
}

std::string names_of(const std::vector<std::string>& paths) {
  std::string names;
  for (const std::string& path : paths) names += (names.empty() ? "" : ", ") + printable(path);
  return names;
}

void tell_pairing(const OutputPairing& pairing, Diagnostics& diagnostics) {
  if (pairing.kind == PairingKind::order)
    diagnostics.add({Severity::warning, Code::format, "",
                     "outputs have neither ids nor prompts in common: they are paired by their order"});
}

}  // namespace

Result<std::vector<OutputSet>> read_sides(const std::vector<std::vector<std::string>>& sides,
                                          std::optional<OutputFormat> format, const WorkTools& tools) {
  std::vector<std::optional<Result<OutputSet>>> read(sides.size());
  tools.pool.parallel_for(static_cast<int64_t>(sides.size()), [&](int64_t i, int) {
    const auto k = static_cast<size_t>(i);
    read[k].emplace(OutputSet::read(sides[k], format, tools.diagnostics, tools.cancel));
  });
  std::vector<OutputSet> sets;
  for (size_t i = 0; i < read.size(); ++i) {
    if (!read[i]->ok()) return std::move(*read[i]).error();
    if ((*read[i])->entries().empty() && !tools.cancel.requested()) {
      // What was wrong with the file says more than that nothing is left of it.
      for (const Diagnostic& each : tools.diagnostics.kept())
        if (each.severity == Severity::error && each.where.empty()) return Error{Code::io, each.text};
      return Error{Code::io, names_of(sides[i]) + ": no output that can be read"};
    }
    sets.push_back(std::move(**read[i]));
  }
  return sets;
}

Result<FirstTokenReport> compare_first_tokens(const FirstTokenOptions& options, const WorkTools& tools) {
  ULPSCOPE_ASSIGN(const std::vector<OutputSet> sets,
                  read_sides({options.golden, options.problem}, options.format, tools));
  const OutputSet &golden = sets[0], &problem = sets[1];
  ULPSCOPE_ASSIGN(const OutputPairing pairing, pair_outputs(golden, problem, options.pair));
  tell_pairing(pairing, tools.diagnostics);
  FirstTokenReport report;
  if (!options.tokenizer.empty()) {
    ULPSCOPE_ASSIGN(report.tokenizer, Tokenizer::read(options.tokenizer));
  }
  report.pairing = pairing.kind;
  report.options = options.diff;
  report.golden_outputs = static_cast<int64_t>(golden.entries().size());
  report.problem_outputs = static_cast<int64_t>(problem.entries().size());
  report.only_golden = static_cast<int64_t>(pairing.only_golden.size());
  report.only_problem = static_cast<int64_t>(pairing.only_problem.size());
  report.requests.resize(pairing.pairs.size());
  tools.pool.parallel_for(static_cast<int64_t>(pairing.pairs.size()), [&](int64_t i, int) {
    if (tools.cancel.requested()) return;
    const OutputPair& pair = pairing.pairs[static_cast<size_t>(i)];
    const OutputEntry &a = golden.entries()[pair.golden], &b = problem.entries()[pair.problem];
    RequestDiff& request = report.requests[static_cast<size_t>(i)];
    if (is_by_id(pairing.kind)) request.id = golden.id(a).empty() ? golden.request_id(a) : golden.id(a);
    request.golden_id = shown_id(golden, a);
    request.problem_id = shown_id(problem, b);
    request.prompt = golden.prompt(a);
    request.choice = a.choice;
    request.order = static_cast<int64_t>(pair.golden);
    request.diff = diff_of(golden, problem, pair, options.diff, tools.diagnostics);
  });
  sort_requests(report.requests);
  ULPSCOPE_TRY(ask_ledgers(options, tools.diagnostics, report));
  return report;
}

Result<RunsReport> compare_runs(const std::vector<std::string>& runs, const FirstTokenOptions& options,
                                const WorkTools& tools) {
  std::vector<std::vector<std::string>> sides;
  sides.reserve(runs.size());
  for (const std::string& run : runs) sides.push_back({run});
  ULPSCOPE_ASSIGN(const std::vector<OutputSet> sets, read_sides(sides, options.format, tools));
  const OutputSet& first = sets.front();
  RunsReport report;
  report.runs = static_cast<int64_t>(runs.size());
  std::vector<std::set<Digest>> contents(first.entries().size());
  report.requests.resize(first.entries().size());
  for (size_t i = 0; i < first.entries().size(); ++i) {
    const OutputEntry& entry = first.entries()[i];
    RepeatedRequest& request = report.requests[i];
    request = {std::string(first.id(entry)),
               std::string(first.prompt(entry)),
               entry.choice,
               static_cast<int64_t>(i),
               1,
               1,
               {},
               is_greedy(entry),
               false};
    contents[i].insert(entry.content);
  }
  for (size_t run = 1; run < sets.size(); ++run) {
    ULPSCOPE_ASSIGN(const OutputPairing pairing, pair_outputs(first, sets[run], options.pair));
    if (run == 1) tell_pairing(pairing, tools.diagnostics);
    report.pairing = pairing.kind;
    report.unpaired += static_cast<int64_t>(pairing.only_golden.size() + pairing.only_problem.size());
    for (const OutputPair& pair : pairing.pairs) {
      if (tools.cancel.requested()) break;
      const OutputEntry& other = sets[run].entries()[pair.problem];
      RepeatedRequest& request = report.requests[pair.golden];
      ++request.runs;
      request.greedy &= is_greedy(other);
      const TokenDiff diff = diff_of(first, sets[run], pair, options.diff, tools.diagnostics);
      if (diff.status == DiffStatus::same || diff.status == DiffStatus::empty) continue;
      contents[pair.golden].insert(other.content);
      request.lost |= !diff.position && !diff.char_position;
      const auto at = diff.position ? diff.position : diff.char_position;
      if (at && (!request.first_divergence || *at < *request.first_divergence)) request.first_divergence = at;
    }
  }
  for (size_t i = 0; i < contents.size(); ++i)
    report.requests[i].distinct = static_cast<int64_t>(contents[i].size());
  std::stable_sort(
      report.requests.begin(), report.requests.end(),
      [](const RepeatedRequest& a, const RepeatedRequest& b) { return a.distinct > b.distinct; });
  return report;
}

}  // namespace ulpscope
