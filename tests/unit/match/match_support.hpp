// What the tests of the pairing share: dumps of the test data as indexes, and pairs as lines of text.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/thread_pool.hpp"
#include "formats/framework_dump.hpp"
#include "index/dump_index.hpp"
#include "match/matcher.hpp"
#include "memory_source.hpp"
#include "plugin/handles.hpp"
#include "plugin/host_services.hpp"

namespace ulpscope::test {

template <FrameworkFlavour kFlavour>
class DumpSource : public Source {
 public:
  static constexpr const char* kName = "torch_api";
  static constexpr const char* kSummary = "a dump of the test data";
  static Probe probe(std::string_view) { return {0, "only for tests"}; }
  DumpSource(Host host, std::string_view path, std::string_view) {
    auto dump = FrameworkDump::open(host, std::string(path), kFlavour, {});
    if (!dump.ok()) throw Failure(ULPSCOPE_E_IO, dump.error().message);
    dump_ = std::move(dump).value();
  }
  void scan(RecordSink& sink) override { dump_->scan(sink); }

 private:
  std::unique_ptr<FrameworkDump> dump_;
};

// A folder of tests/data/match; ends the test when it cannot be read.
inline DumpIndex load(const std::string& name, bool with_tokens = false) {
  static ThreadPool pool(1);
  static const Cancel never;
  static const HostServices host(pool, never, {}, "test");
  const ulpscope_source_desc& desc = with_tokens
                                         ? *ulpscope::source<DumpSource<FrameworkFlavour::vllm_v0>>()
                                         : *ulpscope::source<DumpSource<FrameworkFlavour::torch_api>>();
  const std::string path = std::string(ULPSCOPE_TEST_DATA) + "/match/" + name;
  auto handle = SourceHandle::open(desc, host.table(), path, "{}");
  if (!handle.ok()) FAIL(handle.error().message);
  Diagnostics diagnostics;
  auto index = DumpIndex::build(std::move(handle).value(), {}, diagnostics, never);
  if (!index.ok()) FAIL(index.error().message);
  return std::move(index).value();
}

inline PairList pairs_of(const DumpIndex& target, const DumpIndex& golden, const MatchOptions& options = {}) {
  auto pairs = match(target, golden, options);
  if (!pairs.ok()) FAIL(pairs.error().message);
  return std::move(pairs).value();
}

inline std::string op_name(const DumpIndex& index, OpId op) {
  return op == kNoIndex ? "-" : std::string(index.text(index.ops()[op].name));
}

inline std::string item_text(const DumpIndex& index, ItemId item) {
  return item == kNoIndex ? "-" : op_name(index, index.items()[item].op) + "." + index.item_name(item);
}

// "target | golden | how", a line for each pair of ops.
inline std::vector<std::string> op_lines(const DumpIndex& target, const DumpIndex& golden,
                                         const PairList& pairs) {
  std::vector<std::string> lines;
  for (const OpPair& pair : pairs.ops)
    lines.push_back(op_name(target, pair.target) + " | " + op_name(golden, pair.golden) + " | " +
                    std::string(to_text(pair.how)));
  return lines;
}

// The same for items.
inline std::vector<std::string> item_lines(const DumpIndex& target, const DumpIndex& golden,
                                           const PairList& pairs) {
  std::vector<std::string> lines;
  for (const ItemPair& pair : pairs.items)
    lines.push_back(item_text(target, pair.target) + " | " + item_text(golden, pair.golden) + " | " +
                    std::string(to_text(pair.how)));
  return lines;
}

inline bool holds(const std::vector<std::string>& lines, const std::string& line) {
  for (const std::string& candidate : lines)
    if (candidate == line) return true;
  return false;
}

inline size_t count_how(const PairList& pairs, MatchKind how) {
  size_t count = 0;
  for (const OpPair& pair : pairs.ops) count += pair.how == how ? 1 : 0;
  return count;
}

using Lines = std::vector<std::string>;

}  // namespace ulpscope::test
