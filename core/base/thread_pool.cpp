#include "base/thread_pool.hpp"

#include <atomic>
#include <system_error>
#include <utility>

namespace ulpscope {
namespace {

// The pool whose body this thread runs and its worker index there; null outside. Lets a nested loop run in
// place.
thread_local const ThreadPool* current_pool = nullptr;
thread_local int current_worker = 0;

}  // namespace

struct ThreadPool::Job {
  const ThreadPool* pool;
  const std::function<void(int64_t, int)>& body;
  int64_t count;
  std::atomic<int64_t> cursor{0};

  // noexcept: a body that throws ends the program here, where its stack is still whole.
  void run(int worker) noexcept {
    const ThreadPool* const outer_pool = std::exchange(current_pool, pool);
    const int outer_worker = std::exchange(current_worker, worker);
    for (int64_t i = cursor.fetch_add(1); i < count; i = cursor.fetch_add(1)) body(i, worker);
    current_pool = outer_pool;
    current_worker = outer_worker;
  }
};

ThreadPool::ThreadPool(int workers) {
  // A system that gives no more threads gives a smaller pool, not an end of the program.
  try {
    for (int i = 1; i < workers; ++i) threads_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(job_mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::work(int worker) {
  uint64_t seen = 0;
  std::unique_lock lock(job_mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
    if (stopping_) return;
    seen = generation_;
    Job* job = job_;
    if (job == nullptr) continue;
    ++active_;
    lock.unlock();
    job->run(worker);
    lock.lock();
    if (--active_ == 0) done_.notify_all();
  }
}

void ThreadPool::parallel_for(int64_t n, const std::function<void(int64_t, int)>& body) {
  if (current_pool == this) {
    for (int64_t i = 0; i < n; ++i) body(i, current_worker);
    return;
  }
  const std::lock_guard submit(submit_mutex_);
  Job job{this, body, n};
  if (!threads_.empty() && n > 1) {
    {
      const std::lock_guard lock(job_mutex_);
      job_ = &job;
      ++generation_;
    }
    wake_.notify_all();
  }
  job.run(0);
  std::unique_lock lock(job_mutex_);
  job_ = nullptr;
  done_.wait(lock, [&] { return active_ == 0; });
}

}  // namespace ulpscope
