// What a culprit's numbers say in words: the sentences that the terminal summary and the Markdown report
// share. Text of dumps is made printable here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "index/known_sources.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

// Begins the names of the evidence of a replay: "replay_target".
constexpr std::string_view kReplayEvidence = "replay";

// The message of a culprit's row that has none of its own.
constexpr std::string_view kCulpritMessage = "named by the localisation: what came in does not explain it";

// "COMPUTE FAULT" for compute_fault.
std::string headline(std::string_view verdict);

// The sentence of a run without culprit ("every difference is explained …"), and what it cannot prove. Empty
// for verdicts that name culprits.
std::vector<std::string> run_sentences(const ReportView& report);

// The numbers of pairs of plain tensor files, which no culprit speaks for: of a single pair always, else of
// the first that do not pass. Empty for dumps of operations.
std::vector<std::string> plain_file_sentences(const ReportView& report);

// Rows of which only the elements before the padding were compared.
int64_t padded_rows(const ReportView& report);

// "called from llm_model.py:114 in forward": the innermost frame of a stack that is no wrapper of torch; the
// innermost as it stands where no frame has the known form. Empty for an empty stack.
std::string call_site(const std::vector<std::string>& stack);

// Why a culprit is one, a sentence a line: how its inputs compare, how its tensor differs, the worst element,
// where it was called, the evidence of the localisation.
std::vector<std::string> culprit_sentences(const ReportView& report, const Culprit& culprit);

// Calls that one side has alone.
struct LoneCalls {
  int64_t target = 0, golden = 0;
  std::vector<std::string> target_names, golden_names;  // the first few
};
LoneCalls lone_calls(const ReportView& report);

// Rows of each match kind, in the order of their first row: {"exact", 136}.
std::vector<std::pair<std::string, int64_t>> match_counts(const ReportView& report);

}  // namespace ulpscope
