#include "formats/framework_dump_tokens.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr uint32_t kNone = TextTable::kNone;

// The key id of the outermost module around an entry, the entry's own where nothing encloses it.
std::vector<uint32_t> outermost(const DumpOutline& outline, const ConstructTree& construct) {
  const std::vector<OutlineEntry>& entries = outline.entries;
  std::vector<uint32_t> tops(entries.size());
  // Guessed parents come later in the file, those of a construct.json anywhere; the chain is as long as the
  // nesting.
  constexpr int kMaxNesting = 1000;
  for (size_t i = 0; i < entries.size(); ++i) {
    uint32_t at = static_cast<uint32_t>(i);
    if (construct.empty())
      for (int level = 0; level < kMaxNesting && entries[at].parent != kNone; ++level)
        at = entries[at].parent;
    tops[i] = construct.top(entries[at].key);
  }
  return tops;
}

// Starts a pass at the first entry inside each new call of the module that holds most of the entries. False
// without modules.
bool assign_by_module(DumpOutline& outline, const ConstructTree& construct, const TextTable& key_table) {
  const std::vector<uint32_t> tops = outermost(outline, construct);
  std::unordered_map<std::string_view, int64_t> sizes;
  for (const uint32_t top : tops) {
    const DumpKey key = parse_dump_key(key_table.text(top));
    if (key.form == KeyForm::module && key.phase == Phase::forward) ++sizes[key.counted];
  }
  if (sizes.empty()) return false;
  std::string_view model;
  int64_t most = 0;
  for (const uint32_t top : tops) {  // in file order, so that a tie goes to the first
    const auto found = sizes.find(parse_dump_key(key_table.text(top)).counted);
    if (found == sizes.end() || found->second <= most) continue;
    model = found->first;
    most = found->second;
  }
  std::unordered_map<uint32_t, int32_t> passes;
  int32_t pass = 0;
  for (size_t i = 0; i < tops.size(); ++i) {
    const DumpKey key = parse_dump_key(key_table.text(tops[i]));
    if (key.form == KeyForm::module && key.phase == Phase::forward && key.counted == model)
      pass = passes.emplace(tops[i], static_cast<int32_t>(passes.size())).first->second;
    outline.entries[i].token = pass;
  }
  return true;
}

// Whether each name is called equally often in the passes, as far as the totals tell.
bool divides_evenly(std::span<const DumpKey> keys, int64_t passes) {
  std::map<std::pair<std::string_view, Phase>, int64_t> counts;
  for (const DumpKey& key : keys) ++counts[{key.counted, key.phase}];
  return std::all_of(counts.begin(), counts.end(),
                     [&](const auto& count) { return count.second % passes == 0; });
}

std::string assign_by_anchor(DumpOutline& outline, std::span<const DumpKey> keys) {
  const auto anchors = std::count_if(outline.entries.begin(), outline.entries.end(),
                                     [](const OutlineEntry& entry) { return entry.anchor; });
  const bool even = anchors <= 1 || divides_evenly(keys, anchors);
  int32_t pass = -1;
  for (OutlineEntry& entry : outline.entries) {
    if (entry.anchor) ++pass;
    entry.token = even ? std::max(pass, 0) : 0;
  }
  if (even) return {};
  return "the calls do not divide evenly among " + std::to_string(anchors) +
         " calls like the first one; read as one token";
}

}  // namespace

std::string assign_tokens(DumpOutline& outline, std::span<const DumpKey> keys, const ConstructTree& construct,
                          const TextTable& key_table, int32_t first_token) {
  std::string warning;
  if (!assign_by_module(outline, construct, key_table)) warning = assign_by_anchor(outline, keys);
  // The first call of a name in its pass is call 0 of it. A backward counts with its forward.
  std::map<std::pair<std::string_view, int32_t>, uint32_t> firsts;
  for (size_t i = 0; i < keys.size(); ++i) {
    OutlineEntry& entry = outline.entries[i];
    const auto place = std::pair(keys[i].counted, entry.token);
    const uint32_t first = firsts.emplace(place, entry.call).first->second;
    if (first <= entry.call) entry.call -= first;
    entry.token += first_token;
  }
  return warning;
}

int64_t embedded_tokens(const DumpKey& key, const EntryReader& entry) {
  if (key.phase != Phase::forward || !to_lower(key.type).ends_with("embedding")) return -1;
  for (size_t i = 0; i < entry.tensor_count(); ++i) {
    const EntryTensor& tensor = entry.tensor(i);
    if ((tensor.role != Role::input && tensor.role != Role::kwarg) || !is_integer(tensor.dtype)) continue;
    int64_t count = 1;
    for (const int64_t dim : tensor.shape)
      if (__builtin_mul_overflow(count, dim, &count)) return -1;
    return count;
  }
  return -1;
}

}  // namespace ulpscope
