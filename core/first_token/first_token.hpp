// The work of first-token-diff: two runs read, paired and compared, with the step that made each first
// differing token; or several runs of one side compared with the first. Prints nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "first_token/ledger.hpp"
#include "first_token/pairing.hpp"
#include "first_token/token_diff.hpp"
#include "first_token/tokenizer.hpp"
#include "outputs/output_set.hpp"

namespace ulpscope {

struct FirstTokenOptions {
  std::vector<std::string> golden, problem;  // files and folders
  std::string golden_ledger, problem_ledger, tokenizer;
  PairBy pair = PairBy::automatic;
  std::optional<OutputFormat> format;
  DiffOptions diff;
};

// What the program lends to the work.
struct WorkTools {
  ThreadPool& pool;
  Diagnostics& diagnostics;
  const Cancel& cancel;
};

struct RequestDiff {
  std::string id;  // empty: not paired by id
  std::string golden_id, problem_id, prompt;
  int64_t choice = 0, order = 0;
  TokenDiff diff;
  std::optional<LedgerAnswer> golden_ledger, problem_ledger;
};

struct FirstTokenReport {
  PairingKind pairing = PairingKind::order;
  DiffOptions options;
  int64_t golden_outputs = 0, problem_outputs = 0;
  bool has_ledger = false;
  std::optional<Tokenizer> tokenizer;  // shows tokens as text
  std::vector<RequestDiff> requests;   // hard, soft, unknown, near tie, the rest; then by position
  int64_t only_golden = 0, only_problem = 0;
};

// io: a file is missing or unreadable, or a side has no output. usage: paired by what the outputs lack.
Result<FirstTokenReport> compare_first_tokens(const FirstTokenOptions& options, const WorkTools& tools);

// One request over all runs.
struct RepeatedRequest {
  std::string id, prompt;
  int64_t choice = 0, order = 0;
  int64_t runs = 0, distinct = 0;
  std::optional<int64_t> first_divergence;  // of tokens; of code points where there are none
  bool greedy = true;
  bool lost = false;  // one of its outputs could not be compared
};

struct RunsReport {
  PairingKind pairing = PairingKind::order;
  int64_t runs = 0;
  std::vector<RepeatedRequest> requests;  // those with several outputs first
  int64_t unpaired = 0;                   // outputs that only some runs have
};

// runs: each a file or a folder; at least two. Errors as above.
Result<RunsReport> compare_runs(const std::vector<std::string>& runs, const FirstTokenOptions& options,
                                const WorkTools& tools);

// Reads several sides at once. io: a file is missing or unreadable, or a side has no output; with the name.
Result<std::vector<OutputSet>> read_sides(const std::vector<std::vector<std::string>>& sides,
                                          std::optional<OutputFormat> format, const WorkTools& tools);

}  // namespace ulpscope
