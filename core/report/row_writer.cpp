#include "report/row_writer.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace ulpscope {
namespace {

// About 100 KiB of text, which is still in the cache when it is written.
constexpr int64_t kBatchRows = 512;
// Batches that a worker may be ahead of the one that is written next.
constexpr int64_t kBatchesPerWorker = 8;

// Brings the texts of batches, which workers finish in any order, into the file in their own order. Whoever
// finishes the batch that comes next writes it and all that wait behind it; the others go on formatting.
class OrderedTexts {
 public:
  OrderedTexts(OutputFile& file, int64_t window) : file_(file), waiting_(static_cast<size_t>(window)) {}

  // Room for the text of a batch.
  std::string take_room() {
    const std::lock_guard lock(order_mutex_);
    if (spare_.empty()) return {};
    std::string room = std::move(spare_.back());
    spare_.pop_back();
    room.clear();
    return room;
  }

  void add(int64_t batch, std::string text) {
    std::unique_lock lock(order_mutex_);
    const auto window = static_cast<int64_t>(waiting_.size());
    // The batch that comes next is never held up here, so that there is always somebody to wait for.
    written_.wait(lock, [&] { return batch < next_ + window; });
    slot(batch) = {std::move(text), true};
    if (std::exchange(is_writing_, true)) return;
    for (; slot(next_).is_there; ++next_) {
      Slot taken = std::exchange(slot(next_), {});
      lock.unlock();
      file_.write(taken.text);
      lock.lock();
      spare_.push_back(std::move(taken.text));
      written_.notify_all();
    }
    is_writing_ = false;
    written_.notify_all();
  }

 private:
  struct Slot {
    std::string text;
    bool is_there = false;
  };
  Slot& slot(int64_t batch) { return waiting_[static_cast<size_t>(batch) % waiting_.size()]; }

  OutputFile& file_;
  std::mutex order_mutex_;  // guards what follows; the file belongs to whoever set is_writing_
  std::condition_variable written_;
  std::vector<Slot> waiting_;
  std::vector<std::string> spare_;
  int64_t next_ = 0;
  bool is_writing_ = false;
};

}  // namespace

void write_rows(OutputFile& file, const ReportView& report, const RowFormatter& format, ThreadPool* pool,
                RowParts parts) {
  const int64_t count = report.row_count();
  const int64_t batches = (count + kBatchRows - 1) / kBatchRows;
  const int64_t workers = pool == nullptr ? 1 : pool->workers();
  OrderedTexts texts(file, workers * kBatchesPerWorker);
  std::vector<RowView> rows(static_cast<size_t>(workers));
  for (RowView& row : rows) row.wants_octaves = parts.octaves;
  const auto format_batch = [&](int64_t batch, int worker) {
    std::string text = texts.take_room();
    RowView& row = rows[static_cast<size_t>(worker)];
    const int64_t end = std::min(count, (batch + 1) * kBatchRows);
    for (int64_t i = batch * kBatchRows; i < end; ++i) {
      report.read_row(i, row);
      format(text, row, i);
    }
    texts.add(batch, std::move(text));
  };
  if (pool != nullptr) return pool->parallel_for(batches, format_batch);
  for (int64_t batch = 0; batch < batches; ++batch) format_batch(batch, 0);
}

}  // namespace ulpscope
