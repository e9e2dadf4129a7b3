// The outputs of one side, as an index: what pairs them and whether two are the same, in a few words for each
// output; their tokens stay in the files and are read again where they differ. Used by first-token-diff,
// anomaly --repeats and badcase. Compares nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "outputs/output_scan.hpp"

namespace ulpscope {

using Digest = std::array<uint64_t, 2>;

Digest digest_of(std::string_view text);
Digest digest_of(const std::vector<int64_t>& numbers);

struct OutputEntry {
  Digest prompt_ids = {}, prompt = {};  // where they are known
  Digest content = {};                  // of the token numbers, else the tokens, else the text
  uint64_t offset = 0, size = 0;        // of the record; of a stream: which of its lists of ranges
  uint64_t id = 0, request_id = 0, prompt_text = 0;  // in the texts
  uint32_t id_size = 0, request_id_size = 0, prompt_size = 0;
  uint32_t file = 0, slot = 0;
  int64_t choice = 0;
  int64_t token_count = 0;  // code points of the text where there are no tokens
  float temperature = 0;
  IdKind id_kind = IdKind::none;
  Finish finish = Finish::unknown;
  bool has_prompt_ids = false, has_prompt = false, has_tokens = false, has_token_ids = false;
  bool has_logprobs = false, has_temperature = false;
};

class OutputSet {
 public:
  static constexpr size_t kMostOutputs = size_t{1} << 24;
  static constexpr size_t kKeptPromptBytes = 1024;

  // Reads every output of some files once. io: a file is missing or unreadable, or there are more than
  // kMostOutputs. Two sets may be read at once.
  static Result<OutputSet> read(const std::vector<std::string>& paths, std::optional<OutputFormat> format,
                                Diagnostics& diagnostics, const Cancel& cancel);

  const std::vector<OutputEntry>& entries() const { return entries_; }
  std::string_view id(const OutputEntry& entry) const { return text(entry.id, entry.id_size); }
  std::string_view request_id(const OutputEntry& entry) const {
    return text(entry.request_id, entry.request_id_size);
  }
  // The prompt, cut off with "…" behind kKeptPromptBytes; empty where it is not known.
  std::string_view prompt(const OutputEntry& entry) const {
    return text(entry.prompt_text, entry.prompt_size);
  }
  // The output with all that is known of it. format: the file has changed since. Any thread.
  Result<ModelOutput> load(const OutputEntry& entry) const;

 private:
  std::string_view text(uint64_t begin, uint32_t size) const {
    return std::string_view(texts_).substr(begin, size);
  }
  void add(ModelOutput&& output, const OutputPlace& place);

  std::vector<OutputFileHandle> files_;
  std::vector<FileFacts> facts_;
  std::vector<OutputEntry> entries_;
  std::vector<std::vector<ByteRange>> streams_;
  std::string texts_;
};

// Whether an output was made without sampling: temperature 0, or not known. Below 1e-5 vLLM takes the most
// likely token.
bool is_greedy(const OutputEntry& entry);

}  // namespace ulpscope
