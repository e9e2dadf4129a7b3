#include "outputs/output_set.hpp"

#include <xxhash.h>

#include <limits>

#include "outputs/code_points.hpp"

namespace ulpscope {
namespace {

constexpr float kGreedyTemperature = 1e-5F;

Digest digest_of_bytes(const void* data, size_t size_bytes) {
  const XXH128_hash_t hash = XXH3_128bits(data, size_bytes);
  return {hash.low64, hash.high64};
}

// At most the first bytes of a text, whole code points of it.
std::string beginning(const std::string& text) {
  if (text.size() <= OutputSet::kKeptPromptBytes) return text;
  size_t size = OutputSet::kKeptPromptBytes;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
  return text.substr(0, size) + "…";
}

// Lengths keep ["ab", "c"] and ["a", "bc"] apart.
Digest digest_of_texts(const TokenList& tokens) {
  std::string all;
  for (size_t i = 0; i < tokens.texts.size(); ++i) {
    const std::string& spelled =
        i < tokens.bytes.size() && !tokens.bytes[i].empty() ? tokens.bytes[i] : tokens.texts[i];
    all += std::to_string(spelled.size()) + ":" + spelled;
  }
  return digest_of(all);
}

}  // namespace

Digest digest_of(std::string_view text) { return digest_of_bytes(text.data(), text.size()); }
Digest digest_of(const std::vector<int64_t>& numbers) {
  return digest_of_bytes(numbers.data(), numbers.size() * sizeof(int64_t));
}

bool is_greedy(const OutputEntry& entry) {
  return !entry.has_temperature || entry.temperature < kGreedyTemperature;
}

void OutputSet::add(ModelOutput&& output, const OutputPlace& place) {
  OutputEntry entry;
  const auto keep = [&](const std::string& text, uint64_t& begin, uint32_t& size) {
    begin = texts_.size();
    size = static_cast<uint32_t>(text.size());
    texts_ += text;
  };
  keep(output.id, entry.id, entry.id_size);
  keep(output.request_id, entry.request_id, entry.request_id_size);
  if (output.prompt) keep(beginning(*output.prompt), entry.prompt_text, entry.prompt_size);
  entry.id_kind = output.id_kind;
  entry.file = place.file;
  entry.slot = place.slot;
  if (facts_[place.file].format == OutputFormat::stream) {
    entry.offset = streams_.size();
    streams_.push_back(place.ranges);
  } else {
    entry.offset = place.ranges.front().offset;
    entry.size = place.ranges.front().size;
  }
  entry.choice = output.choice;
  entry.finish = output.finish;
  entry.has_temperature = output.temperature.has_value();
  entry.temperature = static_cast<float>(output.temperature.value_or(0));
  entry.has_prompt_ids = output.prompt_ids.has_value();
  if (output.prompt_ids) entry.prompt_ids = digest_of(*output.prompt_ids);
  entry.has_prompt = output.prompt.has_value();
  if (output.prompt) entry.prompt = digest_of(*output.prompt);
  entry.has_tokens = output.has_tokens;
  entry.has_token_ids = !output.tokens.ids.empty();
  entry.has_logprobs = output.has_logprobs;
  if (output.has_tokens) {
    entry.token_count = static_cast<int64_t>(output.tokens.size());
    entry.content = output.tokens.ids.empty() ? digest_of_texts(output.tokens) : digest_of(output.tokens.ids);
  } else if (output.text) {
    entry.token_count = count_code_points(*output.text);
    entry.content = digest_of(*output.text);
  }
  entries_.push_back(entry);
}

Result<OutputSet> OutputSet::read(const std::vector<std::string>& paths, std::optional<OutputFormat> format,
                                  Diagnostics& diagnostics, const Cancel& cancel) {
  OutputSet set;
  ULPSCOPE_ASSIGN(set.files_, open_output_files(paths));
  ScanOptions options;
  options.format = format;
  options.detail.logprobs = false;
  bool too_many = false;
  const OutputVisitor visitor = [&](ModelOutput&& output, const OutputPlace& place) {
    too_many |= set.entries_.size() >= kMostOutputs;
    if (!too_many) set.add(std::move(output), place);
  };
  ULPSCOPE_TRY(scan_outputs(set.files_, options, diagnostics, cancel, visitor, set.facts_));
  if (too_many) return Error{Code::io, "expected at most " + std::to_string(kMostOutputs) + " outputs"};
  return set;
}

Result<ModelOutput> OutputSet::load(const OutputEntry& entry) const {
  OutputPlace place{entry.file, entry.slot, {{entry.offset, entry.size}}};
  const FileFacts& facts = facts_[entry.file];
  if (facts.format == OutputFormat::stream) place.ranges = streams_[entry.offset];
  ULPSCOPE_ASSIGN(const File file, files_[entry.file].open());
  return read_output(file, facts.format, place, facts.csv_header);
}

}  // namespace ulpscope
