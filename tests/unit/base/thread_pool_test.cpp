#include "base/thread_pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

using namespace ulpscope;

namespace {

// How often each index was run; written from every worker.
std::vector<int> runs_of(ThreadPool& pool, int64_t n) {
  std::vector<std::atomic<int>> runs(static_cast<size_t>(n));
  pool.parallel_for(n, [&](int64_t i, int) { ++runs[static_cast<size_t>(i)]; });
  return {runs.begin(), runs.end()};
}

bool each_once(const std::vector<int>& runs) {
  return std::all_of(runs.begin(), runs.end(), [](int n) { return n == 1; });
}

}  // namespace

TEST_CASE("every index is run once") {
  for (const int workers : {1, 2, 5}) {
    CAPTURE(workers);
    ThreadPool pool(workers);
    CHECK(pool.workers() == workers);
    CHECK(each_once(runs_of(pool, 10000)));
    CHECK(each_once(runs_of(pool, 1)));
    CHECK(runs_of(pool, 0).empty());
  }
}

TEST_CASE("many short loops one after the other lose no index") {
  ThreadPool pool(4);
  int64_t total = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::vector<int> runs = runs_of(pool, 3);
    total += each_once(runs) ? 3 : 0;
  }
  CHECK(total == 6000);
}

TEST_CASE("worker numbers are below workers and no two bodies share one at a time") {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> busy(4);
  std::atomic<int> wrong{0};
  pool.parallel_for(2000, [&](int64_t, int worker) {
    if (worker < 0 || worker >= 4 || busy[static_cast<size_t>(worker)].fetch_add(1) != 0) ++wrong;
    if (worker >= 0 && worker < 4) --busy[static_cast<size_t>(worker)];
  });
  CHECK(wrong == 0);
}

TEST_CASE("a loop inside a body runs in place, on the worker of that body") {
  ThreadPool pool(3);
  std::atomic<int> runs{0}, moved{0};
  pool.parallel_for(20, [&](int64_t, int outer) {
    pool.parallel_for(10, [&](int64_t, int inner) {
      ++runs;
      moved += inner != outer;
    });
  });
  CHECK(runs == 200);
  CHECK(moved == 0);
  CHECK(each_once(runs_of(pool, 100)));
}

TEST_CASE("a loop of another pool inside a body gets the other pool's worker numbers") {
  ThreadPool outer(4), inner(2);
  std::atomic<int> runs{0}, wrong{0};
  outer.parallel_for(8, [&](int64_t, int) {
    inner.parallel_for(5, [&](int64_t, int worker) {
      ++runs;
      wrong += worker < 0 || worker >= inner.workers();
    });
  });
  CHECK(runs == 40);
  CHECK(wrong == 0);
}

TEST_CASE("several threads may submit loops to one pool") {
  ThreadPool pool(3);
  std::atomic<int> runs{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) pool.parallel_for(7, [&](int64_t, int) { ++runs; });
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(runs == 4 * 50 * 7);
}

TEST_CASE("what a body wrote is seen after the loop") {
  ThreadPool pool(4);
  std::vector<int64_t> squares(5000);
  pool.parallel_for(5000, [&](int64_t i, int) { squares[static_cast<size_t>(i)] = i * i; });
  int64_t sum = 0;
  for (const int64_t square : squares) sum += square;
  CHECK(sum == 41654167500);  // n (n + 1) (2n + 1) / 6 for n = 4999
}
