// Measures every pair of a comparison and judges it: decides for each row what to compare (elements,
// statistics, digests, values), reads data in tiles on all workers with bounded memory, and fills the rows of
// a ResultTable.
#pragma once

#include <cstdint>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "measure/journal.hpp"
#include "measure/mode.hpp"
#include "measure/row_grouping.hpp"
#include "measure/similarity.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// What one worker reads into at least: a chunk of 32 KiB of each side.
constexpr uint64_t kLeastMemoryBytes = uint64_t{1} << 16;

struct MeasureOptions {
  DataChoice data = DataChoice::best;
  uint32_t groups = kGroupDefault;  // MetricGroups to compute
  bool groups_for_large = false;    // also in the first pass over tensors of more than one tile
  bool detail_for_all = false;      // second pass for pairs that pass too
  bool distributions = false;       // kl_divergence and the like for pairs of any size
  bool peer_metrics = false;        // numbers for --columns msprobe
  // Cap of all read buffers together, kLeastMemoryBytes a worker or more; 0: the default.
  uint64_t memory_limit_bytes = 0;
  SimilarityOptions similarity;
  RowGrouping* judge = nullptr;  // judgements of plugins that measure rows too; null: none
};

// Told how far the measuring is. Called from any worker.
class MeasureListener {
 public:
  virtual ~MeasureListener() = default;
  virtual void planned(int64_t pairs, uint64_t bytes) = 0;
  virtual void advanced(int64_t pairs, uint64_t bytes) = 0;
};

// Fills table.rows from table.pairs. Pairs that cannot be measured become skip rows with a reason and a
// diagnostic. Rows found in the journal are taken from it; the others are appended as they finish. cancelled:
// the journal is whole.
Status measure(ResultTable& table, const MeasureOptions& options, ThreadPool& pool, const Cancel& cancel,
               Diagnostics& diagnostics, Journal* journal, MeasureListener* listener);

}  // namespace ulpscope
