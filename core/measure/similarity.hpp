// The built-in judgement "similarity" (rules of Result and their corrections): judges the rows of one op pair together,
// from element metrics, statistics, digests and argument values. Pure functions of numbers; opens nothing.
#pragma once

#include <cstdint>
#include <span>

#include "report/result_table.hpp"

namespace ulpscope {

// Thresholds, each with its source in similarity.cpp.
struct SimilarityOptions {
  double ratio_input = 0.9, ratio_output = 0.6;
  double cosine_input = 0.9, cosine_drop_warning = 0.1, cosine_drop_fail = 0.5;
  double norm_input = 0.1, norm_output = 0.5, norm_growth = 10;
  double single_relative = 0.005, floor_absolute = 1e-5;
};

// Sets judged and message of the rows [first, first + count) of table, which all belong to one op pair. Rows whose mode is
// none and absent is set stay skip; rows of one side only stay skip, or fail when the target holds NaN there.
void judge_similarity(ResultTable& table, int64_t first, int64_t count, const SimilarityOptions& options);

}  // namespace ulpscope
