// The built-in judgement "similarity" (rules of Result and their corrections): judges the rows of one op pair
// together, from element metrics, statistics, digests and argument values. Pure functions of numbers; opens
// nothing. docs/similarity.md lists every rule with its thresholds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "report/result_table.hpp"

namespace ulpscope {

// A number in a reason: nine digits, which tell two float32 apart.
std::string reason_number(double value);

// Thresholds, each with its source in similarity.cpp.
struct SimilarityOptions {
  double ratio_input = 0.9, ratio_output = 0.6;
  double cosine_input = 0.9, cosine_drop_warning = 0.1, cosine_drop_fail = 0.5;
  double norm_input = 0.1, norm_output = 0.5, norm_growth = 10;
  double single_relative = 0.005, floor_absolute = 1e-5;
};

// Sets judged and message of the rows [first, first + count) of table, which all belong to one op pair; also
// squeezed and grad_only. Rows whose mode is none and absent is set stay skip; rows of one side only stay
// skip, or fail when the target holds NaN there. A message that is there already stays in front, so rows are
// judged once. Never fails. Any thread for rows of different op pairs.
void judge_similarity(ResultTable& table, int64_t first, int64_t count, const SimilarityOptions& options);

// Whether the row fails for something that rounding cannot explain: NaN or infinity that does not agree,
// unequal shapes, exact types, checksums of exact types, or a differing argument. Any thread.
bool is_never_explained(const ResultTable& table, const ResultRow& row);

// Whether two sources write dumps of one family, whose shapes and names are spelled alike.
bool is_one_family(std::string_view target_source, std::string_view golden_source);

}  // namespace ulpscope
