#include "cli/progress.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace ulpscope {

TEST_CASE("progress: share and time left go by bytes where there are some") {
  // 25 % of the bytes after 5 s leave 15 s; 500 MB in 5 s are 100 MB/s.
  const ProgressState state{10, 1000, 500'000'000, 2'000'000'000, 5.0};
  CHECK(progress_text("measuring", "pairs", state, 0) ==
        "measuring  10 of 1 000 pairs  25 %  100 MB/s  15 s left");
}

TEST_CASE("progress: without bytes the pieces count") {
  const ProgressState state{1500, 2000, 0, 0, 30.0};
  CHECK(progress_text("reading", "files", state, 0) ==
        "reading  1 500 of 2 000 files  75 %  50 files/s  10 s left");
}

TEST_CASE("progress: a bar is filled by the share") {
  CHECK(progress_text("x", "y", {1, 4, 0, 0, 0.1}, 8) == "x  [##......]  1 of 4 y  25 %");
}

TEST_CASE("progress: long times are given in minutes and hours") {
  CHECK(progress_text("x", "y", {1, 11, 0, 0, 10.0}, 0).ends_with("  1 min 40 s left"));
  CHECK(progress_text("x", "y", {1, 1001, 0, 0, 10.0}, 0).ends_with("  2 h 46 min left"));
}

TEST_CASE("progress: nothing done has no time left, and nothing to do is no division by zero") {
  CHECK(progress_text("x", "y", {0, 4, 0, 0, 10.0}, 0) == "x  0 of 4 y  0 %  0 y/s");
  CHECK(progress_text("x", "y", {0, 0, 0, 0, 10.0}, 0) == "x  0 of 0 y  0 %  0 y/s");
}

TEST_CASE("progress: workers may report while it is drawn and when it is quiet") {
  Progress progress(Progress::Style::none, "x", "y", 400);
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i)
    workers.emplace_back([&progress] {
      for (int k = 0; k < 100; ++k) progress.add(1, 10);
    });
  for (std::thread& worker : workers) worker.join();
  CHECK(progress.done() == 400);
}

}  // namespace ulpscope
