// The answers of first-token-diff as JSON and as text. Used by the command. Compares nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "first_token/first_token.hpp"

namespace ulpscope {

struct FirstTokenSummary {
  int64_t pairs = 0, same = 0, diverged = 0, length = 0, truncated = 0, input_mismatch = 0, empty = 0;
  int64_t not_comparable = 0;
  std::array<int64_t, 4> by_kind{};  // of the diverged, by DiffKind
  std::optional<double> median_position;
  std::optional<int64_t> minimum_position;
  std::optional<double> near_tie_share;  // of the diverged
};
FirstTokenSummary summary_of(const FirstTokenReport& report);

// What to do about a result, most useful first.
std::vector<std::string> advice_of(const TokenDiff& diff);

// One of "requests", on one line.
std::string json_of_request(const RequestDiff& request, const FirstTokenReport& report);
// {"schema": "ulpscope.first_token/1", …}
std::string json_of(const FirstTokenReport& report);
std::string json_of(const RunsReport& report);
// At most most_requests of the requests that differ, then the counts.
std::string text_of(const FirstTokenReport& report, size_t most_requests);
std::string text_of(const RunsReport& report, size_t most_requests);

}  // namespace ulpscope
