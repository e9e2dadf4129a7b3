// Metrics that look at the elements of a pair as two distributions: Kullback-Leibler divergence and standard
// deviations. They need the extremes and means of the first pass, so each pair is read once more. Used by the
// measuring for offline-model and ATB dumps, and where the user asks for them.
#pragma once

#include <vector>

#include "base/cancel.hpp"
#include "base/thread_pool.hpp"
#include "measure/data_task.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// Which pairs get them without being asked for: two logarithms an element would hold up a large dump.
constexpr int64_t kDistributionElements = int64_t{1} << 16;

// Sets DataMetrics::distribution of every measured pair of numbers of at most max_elements. A pair that
// cannot be read again stays without: its row says why already. Stops early once cancelled.
void measure_distributions(ResultTable& table, const std::vector<DataPair>& pairs, int64_t max_elements,
                           ThreadPool& pool, const Cancel& cancel);

}  // namespace ulpscope
