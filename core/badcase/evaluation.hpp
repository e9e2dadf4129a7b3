// The samples of an evaluation: key and verdict of each in memory, the rest in the files, read again for bad
// cases. Used by badcase. Pairs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "badcase/evaluation_record.hpp"
#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "outputs/output_files.hpp"

namespace ulpscope {

struct SampleEntry {
  std::string key, filter;
  std::optional<bool> right;
  uint32_t file = 0;
  uint64_t offset = 0, size = 0;
};

class EvaluationSet {
 public:
  static constexpr size_t kMostSamples = size_t{1} << 23;

  // Reads results: CSV tables, OpenCompass and AISBench results ("details") and predictions ("0": {…}), and
  // objects one a line or over lines. A record that cannot be read, has no key, or a verdict that is not
  // understood becomes a diagnostic. io: a file is missing or unreadable, or nothing in them is a sample.
  static Result<EvaluationSet> read(const std::vector<std::string>& paths, bool judges,
                                    Diagnostics& diagnostics, const Cancel& cancel);

  const std::vector<SampleEntry>& samples() const { return samples_; }
  // The whole sample. format: the file has changed since. Any thread.
  Result<EvaluatedSample> load(const SampleEntry& entry) const;

 private:
  struct FileFacts {
    bool is_csv = false;
    CsvColumns columns;
  };
  class Reader;

  bool judges_ = true;
  std::vector<OutputFileHandle> files_;
  std::vector<FileFacts> facts_;
  std::vector<SampleEntry> samples_;
};

}  // namespace ulpscope
