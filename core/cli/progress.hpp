// How far a long command is: a bar with rate and time left on a terminal, a plain line every ten seconds
// otherwise, nothing when it is quiet. Writes to stderr only. Workers report from any thread at the cost of
// two atomic additions.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace ulpscope {

// Where the work stands, for progress_text.
struct ProgressState {
  int64_t done = 0, total = 0;               // pieces of work
  uint64_t done_bytes = 0, total_bytes = 0;  // 0 total: the work is not measured in bytes
  double seconds = 0;                        // since the start
};

// "measuring  1 200 of 4 000 pairs  30 %  1.2 GB/s  12 s left", with a bar of bar_width columns when that is
// not 0. Share and time left go by bytes where there are some. Any thread.
std::string progress_text(const std::string& what, const std::string& unit, const ProgressState& state,
                          int bar_width);

class Progress {
 public:
  enum class Style { none, lines, bar };
  // What suits the stderr of this process: none when quiet, a bar on a terminal, lines otherwise.
  static Style style_for_stderr(bool quiet);

  // what: "measuring"; unit: "pairs". Starts a thread that draws, unless style is none.
  Progress(Style style, std::string what, std::string unit, int64_t total, uint64_t total_bytes = 0);
  // Ends the drawing; a bar is removed, so that the answer stands alone.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Any thread.
  void add(int64_t pieces, uint64_t bytes = 0) {
    done_.fetch_add(pieces, std::memory_order_relaxed);
    done_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  // Pieces so far. Any thread.
  int64_t done() const { return done_.load(std::memory_order_relaxed); }

 private:
  void draw_until_stopped();
  void draw();
  ProgressState state() const;

  Style style_;
  std::string what_, unit_;
  int64_t total_;
  uint64_t total_bytes_;
  std::chrono::steady_clock::time_point start_;
  std::atomic<int64_t> done_{0};
  std::atomic<uint64_t> done_bytes_{0};
  bool drawn_ = false;  // the drawing thread's own, and the destructor's after the join
  bool stopping_ = false;
  std::mutex stop_mutex_;  // guards stopping_
  std::condition_variable stop_;
  std::thread thread_;
};

}  // namespace ulpscope
