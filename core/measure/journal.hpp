// What a run has measured so far, on disk: one JSON line a finished pair, so that a run that was stopped goes
// on where it was. The first line says what was compared; a journal of something else is refused. Metrics are
// stored as the bytes of their structs, so that a resumed run writes the same reports to the last bit.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

struct JournalHeader {
  std::string identity;              // hash of inputs, options and policy
  std::vector<std::string> command;  // as the user gave it
  int64_t started_ns = 0;            // since 1970, by the clock that marks files; set by create
};

class Journal {
 public:
  static constexpr const char* kFileName = "journal.jsonl";

  // Starts a journal in folder. io: it cannot be created, or one is there.
  static Result<Journal> create(const std::string& folder, const JournalHeader& header);
  // The header of a folder's journal. io/format: none, or not ours.
  static Result<JournalHeader> read_header(const std::string& folder);
  // Goes on with a folder's journal; a torn last line is dropped. usage: it belongs to a comparison of
  // something else.
  static Result<Journal> resume(const std::string& folder, const JournalHeader& header);

  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  // What a file that changed before this time holds was measured. Set by create and resume.
  int64_t started_ns() const { return started_ns_; }
  // Metrics of rows finished before, by row; taken out as they are used.
  std::map<int64_t, DataMetrics>& finished() { return finished_; }
  // Appends rows in one write. io. Any thread.
  struct Entry {
    int64_t row;
    const DataMetrics* metrics;
  };
  Status append(const std::vector<Entry>& entries);

 private:
  Journal(int fd, int64_t started_ns) : fd_(fd), started_ns_(started_ns) {}
  int fd_ = -1;
  int64_t started_ns_ = 0;
  std::mutex write_mutex_;
  std::map<int64_t, DataMetrics> finished_;
};

// A hash of everything that decides the result of a comparison: both indexes and the options' text.
std::string comparison_identity(const DumpIndex& target, const DumpIndex& golden,
                                std::string_view options_text, ThreadPool& pool);

}  // namespace ulpscope
