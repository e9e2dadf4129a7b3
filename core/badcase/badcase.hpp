// The work of badcase: two evaluations of the same samples paired, the samples that only golden answers
// right, and which of them is the best case for localisation. Prints nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anomaly/inspect.hpp"
#include "badcase/evaluation.hpp"
#include "first_token/first_token.hpp"

namespace ulpscope {

struct BadcaseOptions {
  std::vector<std::string> golden, problem, repeats;  // files and folders; each of repeats is one run
  bool judges = true;
  std::optional<int64_t> top;  // of the bad cases that are kept
  DiffOptions diff;
};

struct BadCase {
  std::string key;
  std::optional<int64_t> prompt_length;  // tokens
  TokenDiff diff;
  bool input_mismatch = false;
  std::optional<bool> stable;  // over the repeats; nothing where there are none of it
  OutputFindings findings;     // of the problem's output
  bool has_text = false;       // of the problem's output
};

struct BadcaseReport {
  int64_t paired = 0;    // that both sides judge
  int64_t unjudged = 0;  // pairs where one does not
  int64_t golden_right = 0, problem_right = 0, both_wrong = 0;
  int64_t b = 0, c = 0;  // golden right and problem wrong; the other way round
  double p = 1;
  std::optional<int64_t> needed;  // samples that would show the drop
  std::vector<std::string> only_golden, only_problem, fixed;
  std::vector<BadCase> badcases;  // best for localisation first

  std::string_view verdict() const;  // "regression", "improvement" or "not_significant"
};

// io: a file is missing or unreadable, or nothing pairs or is judged.
Result<BadcaseReport> find_bad_cases(const BadcaseOptions& options, const WorkTools& tools);

// Whether a comes before b when runs of digits count as numbers.
bool is_naturally_before(std::string_view a, std::string_view b);

}  // namespace ulpscope
