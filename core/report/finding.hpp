// What a culprit's numbers say in words: the sentences that the terminal summary and the Markdown report
// share. Text of dumps is made printable here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report_view.hpp"

namespace ulpscope {

// "COMPUTE FAULT" for compute_fault.
std::string headline(std::string_view verdict);

// The sentence of a run without culprit ("every difference is explained …"), and what it cannot prove. Empty
// for verdicts that name culprits.
std::vector<std::string> run_sentences(const ReportView& report);

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
