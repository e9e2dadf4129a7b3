// Measures the elements of data pairs: plans tiles and batches, runs them on all workers, merges tiles in
// order. The numeric contract (blocks, tiles, order) is kept here and in the kernels. Used by measure() only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "measure/measure.hpp"
#include "measure/pair_reader.hpp"
#include "measure/row_grouping.hpp"

namespace ulpscope {

// Elements of one tile: the unit of parallel work, and part of the numeric contract.
constexpr int64_t kTileElements = int64_t{1} << 20;

// A pair whose elements are to be measured.
struct DataPair {
  int64_t row = 0;  // of the table
  SideShape target, golden;
  int64_t count = 0;  // elements of each side
  // Leading elements that count; those behind are padding and read as zero on that side.
  int64_t valid_target = 0, valid_golden = 0;
  // Whether the content of a side is hashed, for the data flow.
  bool hash_target = true, hash_golden = true;
  uint64_t size_bytes = 0;             // both sides
  ItemId target_item = kNoIndex;       // the row's item of the target
  int32_t group = RowGrouping::kNone;  // judgements that measure it too
};

// Which passes to make over the data pairs.
struct PassOptions {
  // MetricGroups. Those beyond the default cost divisions: pairs of more than one tile get them in the second
  // pass, unless groups_for_large asks for them in the first one.
  uint32_t groups = kGroupDefault;
  bool groups_for_large = false;
  bool peer_metrics = false;
  bool detail = false;  // the second pass: histogram, worst elements
  uint64_t memory_limit_bytes = 0;
  // What DataPair::group counts in; of the first pass only.
  const std::vector<JudgementGroup>* judgements = nullptr;
};

// Receives finished and failed rows, from any worker, each row once.
class PassSink {
 public:
  virtual ~PassSink() = default;
  virtual void finished(int64_t row, DataMetrics&& metrics) = 0;
  virtual void failed(int64_t row, const Error& error) = 0;
  // The metrics of the first pass, for the second one.
  virtual const DataMetrics* first_pass(int64_t row) const = 0;
  virtual void advanced(int64_t rows, uint64_t bytes) = 0;
  // The work of one task is done; the place to write a journal.
  virtual void task_done(int worker) = 0;
};

// Runs one pass over pairs. Returns early once cancel is requested: rows not reported are not measured.
void run_pass(const DumpIndex& target, const DumpIndex& golden, const std::vector<DataPair>& pairs,
              const PassOptions& options, ThreadPool& pool, const Cancel& cancel, PassSink& sink);

}  // namespace ulpscope
