// Names the operation at fault. Works on a measured and judged ResultTable and the two indexes alone:
// reconstructs the data flow, tells differences that formats and inputs explain from those that they do not,
// and sets verdict, culprits, cause and final verdict of every row. Opens no dump.
#pragma once

#include <string>
#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "locate/noise_floor.hpp"
#include "locate/priors.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

struct LocaliseOptions {
  Priors priors;
  bool soften = true;  // whether explained rows may pass: false where a policy chose the judgements
  const NoiseFloor* noise = nullptr;  // of two golden runs, where there are two
  std::vector<int64_t> not_tied;      // rows of indexes that differ and are known to be no ties
  bool lost_input = false;            // a part of a dump could not be read
  std::string explain_glob;  // --explain: the ops whose deciding numbers go to Localisation::explanations
};

// Fills table.localisation, and cause and verdict of the rows. Never fails: what cannot be known makes the
// verdict inconclusive and says what to dump next.
void localise(ResultTable& table, const LocaliseOptions& options, ThreadPool& pool);

}  // namespace ulpscope
