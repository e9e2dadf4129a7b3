// The wish to stop, set by a signal or an error, asked by every long loop. Any thread, also from a signal
// handler.
#pragma once

#include <atomic>

namespace ulpscope {

class Cancel {
 public:
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
};

}  // namespace ulpscope
