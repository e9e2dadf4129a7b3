// Objects of plugins as values of the host: each handle owns one, calls the C tables, ends it by the plugin's
// own function, and answers with Result<T>. Nothing else calls the tables. What a plugin throws by mistake or
// answers against its contract becomes an Error of code internal that names the component. Handles must not
// outlive the HostServices.
#pragma once

#include <ulpscope/abi.h>
#include <ulpscope/types.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "plugin/running_call.hpp"

namespace ulpscope {

// Ends an object of a plugin. Nothing thrown leaves it: it runs in destructors.
struct ObjectEnd {
  void (*end)(void*) = nullptr;
  ComponentName owner = {"", ""};
  void operator()(void* object) const noexcept;
};
using PluginObject = std::unique_ptr<void, ObjectEnd>;

// The bytes of one tensor that no file holds as they are. One thread at a time; ends before its SourceHandle.
class StreamHandle {
 public:
  // Up to dst.size() bytes; 0 only at the end (or for an empty dst). The plugin's error, or internal when it
  // claims more bytes than dst has.
  Result<size_t> read(std::span<std::byte> dst);

 private:
  friend class SourceHandle;
  StreamHandle(const ulpscope_source_desc& desc, PluginObject stream)
      : desc_(desc), stream_(std::move(stream)) {}
  ulpscope_source_desc desc_;
  PluginObject stream_;
};

// An opened dump.
class SourceHandle {
 public:
  // Opens path with a source. desc is complete (see table_checks.hpp); its texts live as long as the process.
  static Result<SourceHandle> open(const ulpscope_source_desc& desc, const ulpscope_host* host,
                                   const std::string& path, std::string_view options_json);

  // Emits every record into sink. The plugin's error; internal when it was called before. One thread, once.
  Status scan(const ulpscope_record_sink& sink);
  // Where the bytes of a LATER reference lie: kind FILE, STREAM or NONE. The file text is valid while the
  // handle lives. unsupported when the source has no late data. Any thread.
  Result<ulpscope_data_ref> locate(uint64_t token) const;
  // The bytes of a STREAM reference. unsupported when the source has no streams. Any thread.
  Result<StreamHandle> open_stream(uint64_t token) const;

  std::string_view source_name() const { return desc_.name; }
  // With its file, for messages.
  ComponentName component() const { return {"source", desc_.name}; }
  // As it was given to open.
  const std::string& path() const { return path_; }

 private:
  SourceHandle(const ulpscope_source_desc& desc, PluginObject self, std::string path)
      : desc_(desc), self_(std::move(self)), path_(std::move(path)) {}
  ulpscope_source_desc desc_;
  PluginObject self_;
  std::string path_;
  bool scanned_ = false;
};

// How sure a source is that path is a dump of its kind. A failing or ill-behaved probe scores 0 and says why.
// Any thread.
struct ProbeAnswer {
  int32_t score = 0;  // 0 … 100
  std::string why;
};
ProbeAnswer probe(const ulpscope_source_desc& desc, const ulpscope_host* host, const std::string& path);

// What a measure found: one value a metric of the judgement, and up to four worst elements.
struct Measurement {
  std::vector<ulpscope_metric> metrics;
  std::vector<ulpscope_element> worst;
};

// What a judgement says of one pair. Values are ULPSCOPE_SKIP … ULPSCOPE_FAIL.
struct PairVerdict {
  int32_t overall = ULPSCOPE_SKIP;
  std::vector<int32_t> per_metric;
  std::string message;
};

// The measuring of one pair, or of a part of it. One thread at a time; ends before its JudgementHandle.
class MeasureHandle {
 public:
  // Takes the next chunk; both views hold the same number of elements, a multiple of ULPSCOPE_BLOCK except
  // the last.
  Status consume(const ulpscope_view& actual, const ulpscope_view& golden);
  // Adds the part that follows this one, begun by the same judgement on the same pair.
  Status merge(const MeasureHandle& next_part);
  // The numbers; internal when the plugin claims more worst elements than there is room for.
  Result<Measurement> finish();

 private:
  friend class JudgementHandle;
  MeasureHandle(const ulpscope_judgement_desc& desc, PluginObject measure)
      : desc_(desc), measure_(std::move(measure)) {}
  ulpscope_judgement_desc desc_;
  PluginObject measure_;
};

// A judgement with its options. Every member: any thread.
class JudgementHandle {
 public:
  // usage when the judgement does not accept the options. desc as for SourceHandle::open.
  static Result<JudgementHandle> create(const ulpscope_judgement_desc& desc, const ulpscope_host* host,
                                        std::string_view options_json);

  // Whether it applies to the pair; if not, why_not receives the reason.
  bool applies(const ulpscope_pair& pair, std::string& why_not) const;
  Result<MeasureHandle> begin(const ulpscope_pair& pair) const;
  // metrics and reference hold metric_count values; reference is empty when there is none.
  Result<PairVerdict> judge(const ulpscope_pair& pair, std::span<const ulpscope_metric> metrics,
                            std::span<const ulpscope_metric> reference) const;

  std::string_view name() const { return desc_.name; }
  const ulpscope_judgement_desc& desc() const { return desc_; }

 private:
  JudgementHandle(const ulpscope_judgement_desc& desc, PluginObject self)
      : desc_(desc), self_(std::move(self)) {}
  ulpscope_judgement_desc desc_;
  PluginObject self_;
};

// An executor with its options. Every member: any thread.
class ExecutorHandle {
 public:
  // usage when the executor does not accept the options. desc as for SourceHandle::open.
  static Result<ExecutorHandle> create(const ulpscope_executor_desc& desc, const ulpscope_host* host,
                                       std::string_view options_json);

  bool supports(const ulpscope_op_record& op) const;
  // Runs op; out receives the outputs (OutputCollector of outputs.hpp makes one). The plugin's error.
  Status run(const ulpscope_op_record& op, std::span<const ulpscope_tensor> inputs,
             const ulpscope_output_sink& out) const;

  std::string_view name() const { return desc_.name; }

 private:
  ExecutorHandle(const ulpscope_executor_desc& desc, PluginObject self)
      : desc_(desc), self_(std::move(self)) {}
  ulpscope_executor_desc desc_;
  PluginObject self_;
};

}  // namespace ulpscope
