// A loop over many small steps on all workers: given out in batches, so that handing one out costs nothing
// beside it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.hpp"

namespace ulpscope {

// Runs body(first, end) for consecutive batches of [0, count), from any worker, and returns when all are
// done. Steps of different batches must not write to the same place.
template <class Body>
void for_batches(ThreadPool& pool, int64_t count, const Body& body) {
  constexpr int64_t kBatch = 4096;
  pool.parallel_for((count + kBatch - 1) / kBatch,
                    [&](int64_t batch, int) { body(batch * kBatch, std::min(count, (batch + 1) * kBatch)); });
}

}  // namespace ulpscope
