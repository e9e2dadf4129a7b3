#include "measure/measure.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/batches.hpp"
#include "base/text.hpp"
#include "index/tensor_data.hpp"
#include "measure/data_task.hpp"
#include "measure/distribution.hpp"
#include "measure/padding.hpp"

namespace ulpscope {
namespace {

// Op pairs whose rows are judged by one task.
constexpr int64_t kJudgeBatch = 256;

void add_message(ResultRow& row, std::string_view text) {
  if (!row.message.empty()) row.message += "; ";
  row.message += text;
}

// Collects what the passes find. finished and failed write only to the slot of their own row.
class Collector final : public PassSink {
 public:
  Collector(ResultTable& table, Diagnostics& diagnostics, Journal* journal, MeasureListener* listener)
      : table_(table), diagnostics_(diagnostics), journal_(journal), listener_(listener) {}

  void expect_slots(size_t count) { table_.data_metrics.reserve(table_.data_metrics.size() + count); }

  // The slot of each row that is to be measured must be there before a pass starts.
  void add_slot(int64_t row) {
    table_.rows[static_cast<size_t>(row)].metrics = static_cast<int64_t>(table_.data_metrics.size());
    table_.data_metrics.emplace_back();
  }

  void finished(int64_t row, DataMetrics&& metrics) override {
    slot(row) = std::move(metrics);
    const std::lock_guard lock(finished_mutex_);
    finished_rows_.push_back(row);
  }

  void failed(int64_t row, const Error& error) override {
    ResultRow& result = table_.rows[static_cast<size_t>(row)];
    result.mode = Mode::none;
    result.absent = Absent::bad;
    result.unreadable = true;
    result.metrics = -1;
    add_message(result, error.message);
    const std::lock_guard lock(finished_mutex_);
    failed_rows_.emplace_back(row, error);
  }

  // Workers finish in any order; reports list what went wrong in the order of the rows.
  void diagnose_failures() {
    std::sort(failed_rows_.begin(), failed_rows_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [row, error] : failed_rows_) diagnostics_.add(Severity::error, error, row_name(row));
    failed_rows_.clear();
  }

  const DataMetrics* first_pass(int64_t row) const override {
    const int64_t at = table_.rows[static_cast<size_t>(row)].metrics;
    return at < 0 ? nullptr : &table_.data_metrics[static_cast<size_t>(at)];
  }

  void advanced(int64_t rows, uint64_t bytes) override {
    if (listener_ != nullptr) listener_->advanced(rows, bytes);
  }

  void task_done(int) override {
    if (journal_ == nullptr) return;
    std::vector<Journal::Entry> entries;
    {
      const std::lock_guard lock(finished_mutex_);
      for (const int64_t row : finished_rows_) entries.push_back({row, first_pass(row)});
      finished_rows_.clear();
    }
    if (entries.empty()) return;
    if (const Status written = journal_->append(entries); !written.ok()) {
      const std::lock_guard lock(finished_mutex_);
      if (!journal_error_) journal_error_ = written.error();
    }
  }

  const std::optional<Error>& journal_error() const { return journal_error_; }

  std::string row_name(int64_t row) const {
    const ItemPair& pair = table_.rows[static_cast<size_t>(row)].pair;
    const bool on_target = pair.target != kNoIndex;
    const DumpIndex& index = on_target ? *table_.target : *table_.golden;
    const ItemId item = on_target ? pair.target : pair.golden;
    return std::string(index.text(index.ops()[index.items()[item].op].name)) + " " + index.item_name(item);
  }

 private:
  DataMetrics& slot(int64_t row) {
    return table_.data_metrics[static_cast<size_t>(table_.rows[static_cast<size_t>(row)].metrics)];
  }

  ResultTable& table_;
  Diagnostics& diagnostics_;
  Journal* journal_;
  MeasureListener* listener_;
  std::mutex finished_mutex_;  // guards the members below
  std::vector<int64_t> finished_rows_;
  std::vector<std::pair<int64_t, Error>> failed_rows_;
  std::optional<Error> journal_error_;
};

// Decides for each row what there is to compare; gathers the rows whose elements are to be measured.
class Planner {
 public:
  Planner(ResultTable& table, const MeasureOptions& options, Diagnostics& diagnostics)
      : table_(table),
        target_(*table.target),
        golden_(*table.golden),
        chooser_(target_, golden_, options.data),
        diagnostics_(diagnostics) {}

  std::vector<DataPair> plan(ThreadPool& pool) {
    table_.rows.resize(table_.pairs.items.size());
    const auto count = static_cast<int64_t>(table_.rows.size());
    for_batches(pool, count, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) choose_mode(static_cast<size_t>(i));
    });
    for (int64_t i = 0; i < count; ++i) {
      const ResultRow& row = table_.rows[static_cast<size_t>(i)];
      if (row.unreadable) diagnostics_.add({Severity::error, Code::format, row_name(row), row.message});
      if (row.mode == Mode::data) plan_data(i);
    }
    std::stable_sort(pairs_.begin(), pairs_.end(),
                     [](const DataPair& a, const DataPair& b) { return a.size_bytes > b.size_bytes; });
    return std::move(pairs_);
  }

 private:
  // Writes to the row alone.
  void choose_mode(size_t number) {
    ResultRow& row = table_.rows[number];
    row.pair = table_.pairs.items[number];
    const ItemPair& pair = row.pair;
    if (pair.target == kNoIndex || pair.golden == kNoIndex) {
      if (pair.why == OneSided::inner) {
        row.absent = Absent::inner;
        row.message = "inner to a fused operator";
      } else if (pair.why == OneSided::no_reference) {
        row.absent = Absent::no_reference;
      }
      return;
    }
    const TensorId target = target_.items()[pair.target].tensor, golden = golden_.items()[pair.golden].tensor;
    if (target == kNoIndex || golden == kNoIndex) {
      row.mode = Mode::value;
      return;
    }
    ModeChoice choice = chooser_.choose(pair);
    row.mode = choice.mode;
    row.absent = choice.absent;
    row.unreadable = choice.unreadable;
    row.message = std::move(choice.message);
  }

  // Finds the rows of an output that do not count; false when that cannot be told.
  bool limit_to_valid(ResultRow& row, DataPair& pair) {
    const auto limit = [&](const DumpIndex& index, ItemId item, int64_t& valid) -> Status {
      ULPSCOPE_ASSIGN(const std::optional<int64_t> rows, valid_rows(index, item));
      if (!rows) return {};
      const int64_t all_rows = index.shape_of(index.items()[item].tensor)[0];
      valid = pair.count / all_rows * *rows;
      if (row.message.empty())
        add_message(row, "rows from " + std::to_string(*rows) + " on " + std::string(kPaddingMessage));
      return {};
    };
    const Status target = limit(target_, row.pair.target, pair.valid_target);
    const Status golden = limit(golden_, row.pair.golden, pair.valid_golden);
    if (target.ok() && golden.ok()) return true;
    refuse(row, target.ok() ? golden.error() : target.error());
    return false;
  }

  // The pair cannot be measured, although it should be.
  void refuse(ResultRow& row, const Error& error) {
    row.mode = Mode::none;
    row.absent = Absent::bad;
    row.unreadable = true;
    add_message(row, error.message);
    diagnostics_.add(Severity::error, error, row_name(row));
  }

  std::string row_name(const ResultRow& row) const {
    return std::string(target_.text(target_.ops()[target_.items()[row.pair.target].op].name)) + " " +
           target_.item_name(row.pair.target);
  }

  void plan_data(int64_t number) {
    ResultRow& row = table_.rows[static_cast<size_t>(number)];
    const Merge* merge =
        row.pair.merge < 0 ? nullptr : &table_.pairs.merges[static_cast<size_t>(row.pair.merge)];
    auto target =
        side_shape(target_, row.pair.target, merge != nullptr && merge->target_side ? merge : nullptr);
    auto golden =
        side_shape(golden_, row.pair.golden, merge != nullptr && !merge->target_side ? merge : nullptr);
    if (!target.ok() || !golden.ok()) {
      refuse(row, target.ok() ? golden.error() : target.error());
      return;
    }
    if (target->shape != golden->shape) {
      if (!is_same_squeezed(target->shape, golden->shape)) return;  // no metrics: judged by the shapes
      row.squeezed = true;
    }
    DataPair pair{number, std::move(target).value(), std::move(golden).value()};
    pair.count = pair.target.element_count();
    if (pair.count < 0) {
      refuse(row, {Code::format, "the shape is too large"});
      return;
    }
    pair.valid_target = pair.valid_golden = pair.count;
    if (merge == nullptr && !limit_to_valid(row, pair)) return;
    pair.size_bytes =
        static_cast<uint64_t>(pair.count) * (size_bytes(pair.target.dtype) + size_bytes(pair.golden.dtype));
    pair.hash_target = wants_hash(target_, pair.target);
    pair.hash_golden = wants_hash(golden_, pair.golden);
    pairs_.push_back(std::move(pair));
  }

  // The data flow is found by content. Files alone have none; and what a record says of a large tensor (its
  // digest, or all four statistics) tells it from others as well as a hash of its bytes.
  static bool wants_hash(const DumpIndex& index, const SideShape& side) {
    if (index.source_name() == "tensor_files") return false;
    const TensorRow& tensor = index.tensors()[side.parts.front()];
    constexpr uint32_t kAll = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_MEAN | ULPSCOPE_STAT_L2;
    const bool recorded = tensor.digest != 0 || (tensor.stats.present & kAll) == kAll;
    return !recorded || side.element_count() <= kTileElements;
  }

  ResultTable& table_;
  const DumpIndex &target_, &golden_;
  ModeChooser chooser_;
  Diagnostics& diagnostics_;
  std::vector<DataPair> pairs_;
};

// Sources whose users know these metrics from their own tools.
bool is_compiled_model(const DumpIndex& index) {
  return index.source_name() == "acl_om" || index.source_name() == "mindie_atb";
}

// Judges all rows, op pair by op pair; rows of one op pair lie together.
void judge_all(ResultTable& table, const SimilarityOptions& options, ThreadPool& pool) {
  std::vector<std::pair<int64_t, int64_t>> runs;  // first row and count of each op pair
  const auto count = static_cast<int64_t>(table.rows.size());
  for (int64_t first = 0; first < count;) {
    int64_t end = first + 1;
    const uint32_t op_pair = table.rows[static_cast<size_t>(first)].pair.op_pair;
    while (end < count && table.rows[static_cast<size_t>(end)].pair.op_pair == op_pair) ++end;
    runs.emplace_back(first, end - first);
    first = end;
  }
  const int64_t batches = (static_cast<int64_t>(runs.size()) + kJudgeBatch - 1) / kJudgeBatch;
  pool.parallel_for(batches, [&](int64_t batch, int) {
    const size_t end = std::min(runs.size(), static_cast<size_t>((batch + 1) * kJudgeBatch));
    for (auto i = static_cast<size_t>(batch * kJudgeBatch); i < end; ++i)
      judge_similarity(table, runs[i].first, runs[i].second, options);
  });
}

// The second pass: pairs that do not pass and differ, or all that differ.
std::vector<DataPair> detail_pairs(const ResultTable& table, const std::vector<DataPair>& pairs, bool all) {
  std::vector<DataPair> chosen;
  for (const DataPair& pair : pairs) {
    const ResultRow& row = table.rows[static_cast<size_t>(pair.row)];
    if (row.metrics < 0) continue;
    const DataMetrics& metrics = table.data_metrics[static_cast<size_t>(row.metrics)];
    if (metrics.detail || (metrics.sums.unequal == 0 && metrics.sums.nonfinite_mismatch == 0)) continue;
    if (all || row.judged != Verdict::pass) chosen.push_back(pair);
  }
  return chosen;
}

uint64_t total_bytes(const std::vector<DataPair>& pairs) {
  uint64_t bytes = 0;
  for (const DataPair& pair : pairs) bytes += pair.size_bytes;
  return bytes;
}

void say_crc_mismatches(ResultTable& table, const Collector& collector, Diagnostics& diagnostics) {
  for (size_t i = 0; i < table.rows.size(); ++i) {
    ResultRow& row = table.rows[i];
    if (row.metrics < 0) continue;
    const DataMetrics& metrics = table.data_metrics[static_cast<size_t>(row.metrics)];
    for (const auto& [bad, side] :
         {std::pair(metrics.crc_mismatch_target, "target"), {metrics.crc_mismatch_golden, "golden"}}) {
      if (!bad) continue;
      const std::string text =
          std::string(side) + ": the CRC-32 of the data is not the one that its file states";
      add_message(row, text);
      diagnostics.add({Severity::warning, Code::format, collector.row_name(static_cast<int64_t>(i)), text});
    }
  }
}

// Rows whose statistics were found lacking when they were judged.
void say_lacking_statistics(const ResultTable& table, const Collector& collector, Diagnostics& diagnostics) {
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const ResultRow& row = table.rows[i];
    if (row.mode == Mode::statistics && row.unreadable)
      diagnostics.add(
          {Severity::error, Code::format, collector.row_name(static_cast<int64_t>(i)), row.message});
  }
}

// Asks for the judgements of each pair; pairs that are ignored are not measured.
Status choose_judgements(ResultTable& table, RowGrouping& judge, std::vector<DataPair>& pairs) {
  for (DataPair& pair : pairs) {
    const PairRecord record(*table.target, table.rows[static_cast<size_t>(pair.row)].pair.target,
                            pair.target.dtype, pair.golden.dtype, pair.target.shape, pair.count);
    pair.target_item = table.rows[static_cast<size_t>(pair.row)].pair.target;
    ULPSCOPE_ASSIGN(pair.group, judge.group_of(pair.row, record));
  }
  std::erase_if(pairs, [](const DataPair& pair) { return pair.group == RowGrouping::kIgnored; });
  return {};
}

// Whether the data of an item is for certain what it was at that time.
bool is_older(const DumpIndex& index, ItemId item, int64_t time_ns) {
  const auto data = TensorData::open(index, index.items()[item].tensor);
  const auto changed = data.ok() ? data->changed_ns() : std::nullopt;
  return changed && *changed < time_ns;
}

// The same of both sides of a row, all items of a merge.
bool is_as_measured(const ResultTable& table, int64_t row, int64_t started_ns) {
  const ItemPair& pair = table.rows[static_cast<size_t>(row)].pair;
  bool older =
      is_older(*table.target, pair.target, started_ns) && is_older(*table.golden, pair.golden, started_ns);
  if (pair.merge < 0) return older;
  const Merge& merge = table.pairs.merges[static_cast<size_t>(pair.merge)];
  for (const ItemId item : merge.items)
    older = older && is_older(merge.target_side ? *table.target : *table.golden, item, started_ns);
  return older;
}

}  // namespace

Status measure(ResultTable& table, const MeasureOptions& options, ThreadPool& pool, const Cancel& cancel,
               Diagnostics& diagnostics, Journal* journal, MeasureListener* listener) {
  std::vector<DataPair> pairs = Planner(table, options, diagnostics).plan(pool);
  if (options.judge != nullptr) ULPSCOPE_TRY(choose_judgements(table, *options.judge, pairs));
  Collector collector(table, diagnostics, journal, listener);
  collector.expect_slots(pairs.size());
  // What a resumed run has yet to measure; a new one measures all.
  const bool is_resumed = journal != nullptr && !journal->finished().empty();
  std::vector<DataPair> rest;
  table.measured_again = 0;
  for (const DataPair& pair : pairs) {
    collector.add_slot(pair.row);
    if (!is_resumed) continue;
    if (auto found = journal->finished().find(pair.row); found != journal->finished().end()) {
      if (is_as_measured(table, pair.row, journal->started_ns())) {
        table.data_metrics.back() = std::move(found->second);
        continue;
      }
      ++table.measured_again;
    }
    rest.push_back(pair);
  }
  const std::vector<DataPair>& open_pairs = is_resumed ? rest : pairs;
  if (table.measured_again > 0)
    diagnostics.add({Severity::warning, Code::io, "resume",
                     count_text(table.measured_again) +
                         (table.measured_again == 1 ? " pair is" : " pairs are") +
                         " measured again: their files may have changed since the run began"});
  if (listener != nullptr)
    listener->planned(static_cast<int64_t>(open_pairs.size()), total_bytes(open_pairs));

  PassOptions pass{options.groups,
                   options.groups_for_large,
                   options.peer_metrics,
                   false,
                   options.memory_limit_bytes,
                   options.judge == nullptr ? nullptr : &options.judge->groups()};
  run_pass(*table.target, *table.golden, open_pairs, pass, pool, cancel, collector);
  if (cancel.requested()) return Error{Code::cancelled, "cancelled"};
  collector.diagnose_failures();
  say_crc_mismatches(table, collector, diagnostics);
  if (options.distributions || is_compiled_model(*table.target) || is_compiled_model(*table.golden))
    measure_distributions(table, pairs, options.distributions ? INT64_MAX : kDistributionElements, pool,
                          cancel);
  judge_all(table, options.similarity, pool);
  say_lacking_statistics(table, collector, diagnostics);

  const std::vector<DataPair> second = detail_pairs(table, pairs, options.detail_for_all);
  if (listener != nullptr && !second.empty())
    listener->planned(static_cast<int64_t>(second.size()), total_bytes(second));
  pass.detail = true;
  run_pass(*table.target, *table.golden, second, pass, pool, cancel, collector);
  if (cancel.requested()) return Error{Code::cancelled, "cancelled"};
  collector.diagnose_failures();
  if (collector.journal_error()) return *collector.journal_error();
  return {};
}

}  // namespace ulpscope
