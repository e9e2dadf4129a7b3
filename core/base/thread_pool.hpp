// A fixed set of workers over one cursor: the host's only way to run things side by side. Tasks are given in
// the order in which they should start; there is no work stealing, because large work is cut into even tiles
// before it comes here.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ulpscope {

class ThreadPool {
 public:
  // workers >= 1; one of them is the calling thread, so workers - 1 threads are started, or fewer when the
  // system gives no more.
  explicit ThreadPool(int workers);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int workers() const { return static_cast<int>(threads_.size()) + 1; }
  // Runs body(i, worker) for each i in [0, n), worker in [0, workers()), and returns when all are done. body
  // must not throw. A call from inside a body runs its loop on the calling worker alone. [any-thread]
  void parallel_for(int64_t n, const std::function<void(int64_t, int)>& body);

 private:
  struct Job;
  void work(int worker);

  std::vector<std::thread> threads_;
  std::mutex submit_mutex_;  // one job at a time
  std::mutex job_mutex_;     // guards job_, generation_, active_ and stopping_
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  uint64_t generation_ = 0;
  int active_ = 0;
  bool stopping_ = false;
};

}  // namespace ulpscope
