// Brings batches, which workers finish in any order, to one consumer in their own order. Used by the writers
// of files: rows are made ready on all workers while others are written.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace ulpscope {

// Whoever finishes the batch that comes next consumes it and all that wait behind it; the others go on.
// Batch: default-constructible and movable; its memory is used again.
template <class Batch>
class OrderedBatches {
 public:
  // Batches that a worker may be ahead of the one that is consumed next.
  static constexpr int64_t kBatchesPerWorker = 8;

  // consume is called for batch 0, 1, …, by one thread at a time.
  OrderedBatches(int64_t workers, std::function<void(const Batch&)> consume)
      : consume_(std::move(consume)), waiting_(static_cast<size_t>(workers * kBatchesPerWorker)) {}

  // Room for a batch: what an earlier one left, or a fresh one. Any thread.
  Batch take_room() {
    const std::lock_guard lock(order_mutex_);
    if (spare_.empty()) return {};
    Batch room = std::move(spare_.back());
    spare_.pop_back();
    return room;
  }

  // Hands over a batch; every number from 0 has to come once. Waits while the batch is too far ahead. Any
  // thread.
  void add(int64_t number, Batch batch) {
    std::unique_lock lock(order_mutex_);
    const auto window = static_cast<int64_t>(waiting_.size());
    // The batch that comes next is never held up here, so that there is always somebody to wait for.
    consumed_.wait(lock, [&] { return number < next_ + window; });
    slot(number) = {std::move(batch), true};
    if (std::exchange(is_consuming_, true)) return;
    for (; slot(next_).is_there; ++next_) {
      Slot taken = std::exchange(slot(next_), {});
      lock.unlock();
      consume_(taken.batch);
      lock.lock();
      spare_.push_back(std::move(taken.batch));
      consumed_.notify_all();
    }
    is_consuming_ = false;
    consumed_.notify_all();
  }

 private:
  struct Slot {
    Batch batch;
    bool is_there = false;
  };
  Slot& slot(int64_t number) { return waiting_[static_cast<size_t>(number) % waiting_.size()]; }

  std::function<void(const Batch&)> consume_;  // called by whoever set is_consuming_
  std::mutex order_mutex_;                     // guards what follows
  std::condition_variable consumed_;
  std::vector<Slot> waiting_;
  std::vector<Batch> spare_;
  int64_t next_ = 0;
  bool is_consuming_ = false;
};

}  // namespace ulpscope
