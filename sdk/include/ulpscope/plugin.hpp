// The C++ side of a plugin: base classes for a source, a judgement and an executor, and the macro that
// defines the one exported entry. A plugin author derives from one of them and never sees a C table. Code of
// a plugin may throw: Failure with a status of its own, anything else becomes ULPSCOPE_E_INTERNAL; nothing
// thrown passes the boundary. C++17.
#pragma once

#include <ulpscope/detail/guard.hpp>
#include <ulpscope/types.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>

namespace ulpscope {

// What the host offers. Cheap to copy; valid as long as the component that received it. Any thread.
class Host {
 public:
  explicit Host(const ulpscope_host* table) : table_(table) {}

  void debug(std::string_view text) const { log(0, text); }
  void info(std::string_view text) const { log(1, text); }
  void warn(std::string_view text) const { log(2, text); }
  void error(std::string_view text) const { log(3, text); }
  // True once the user wants to stop; long loops ask at least every 100 ms.
  bool cancelled() const { return table_->cancelled(table_->ctx) != 0; }
  // Throws ULPSCOPE_E_CANCELLED once the user wants to stop.
  void check_cancelled() const {
    if (cancelled()) throw Failure(ULPSCOPE_E_CANCELLED, "cancelled");
  }

  // Runs body(i) for each i in [0, n) on the host's workers; the first exception is thrown again here.
  template <class F>
  void parallel_for(uint64_t n, F body) const {
    struct Shared {
      F* body;
      std::mutex first_mutex;
      std::exception_ptr first;
    } shared{&body, {}, {}};
    const auto call = [](void* arg, uint64_t i) {
      auto* s = static_cast<Shared*>(arg);
      try {
        (*s->body)(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(s->first_mutex);
        if (!s->first) s->first = std::current_exception();
      }
    };
    const ulpscope_status status = table_->parallel_for(table_->ctx, n, call, &shared);
    if (shared.first) std::rethrow_exception(shared.first);
    if (status != ULPSCOPE_OK) throw Failure(status, "parallel_for failed");
  }

 private:
  void log(int32_t level, std::string_view text) const { table_->log(table_->ctx, level, to_str(text)); }
  const ulpscope_host* table_;
};

// Receives the records of a scan in execution order, each op before its tensors.
class RecordSink {
 public:
  explicit RecordSink(const ulpscope_record_sink* table) : table_(table) {}
  // The index by which tensors and children refer to the op. Throws what the host answers.
  uint32_t add(const OpRecord& op);
  // The index of the tensor within the dump. Throws what the host answers.
  uint32_t add(const TensorRecord& tensor);
  // Something of the dump is unusable; the scan goes on. where names file and place. ULPSCOPE_E_IO: a part of
  // the dump is lost to the run; any other code: a warning; ULPSCOPE_OK: a remark.
  void diagnose(ulpscope_status code, std::string_view where, std::string_view text) {
    table_->diagnose(table_->ctx, code, to_str(where), to_str(text));
  }

 private:
  const ulpscope_record_sink* table_;
};

// How sure a source is that a path is a dump of its kind: 0 no … 100 certain, and by what it knows.
struct Probe {
  int score = 0;
  std::string why;
};

// Bytes of one tensor that no file holds as they are. One thread at a time.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Up to size bytes into dst; the number written, 0 at the end.
  virtual uint64_t read(void* dst, uint64_t size) = 0;
};

// A dump adapter. The class also has: static constexpr const char* kName, kSummary; static Probe
// probe(std::string_view path); a constructor (Host, std::string_view path, std::string_view options_json);
// optionally static constexpr ulpscope_option_desc kOptions[].
class Source {
 public:
  virtual ~Source() = default;
  // Emits every record once, in execution order.
  virtual void scan(RecordSink& sink) = 0;
  // Where the bytes of a tensor recorded with DataRef::later(token) lie. Any thread.
  virtual DataRef locate(uint64_t) { throw Failure(ULPSCOPE_E_UNSUPPORTED, "this source has no late data"); }
  // The bytes of a tensor recorded (or located) as DataRef::stream(token). Any thread.
  virtual std::unique_ptr<ByteStream> stream(uint64_t) {
    throw Failure(ULPSCOPE_E_UNSUPPORTED, "this source has no streams");
  }
};

// The measuring of one pair: consume chunks in order, merge parts in order; the result must not depend on
// where they end.
class Measure {
 public:
  virtual ~Measure() = default;
  virtual void consume(const ulpscope_view& actual, const ulpscope_view& golden) = 0;
  virtual void merge(const Measure& next_part) = 0;
  virtual void finish(ulpscope_measurement& out) const = 0;
};

// An algorithm that measures a pair and judges numbers. The class also has: kName, kSummary; static constexpr
// ulpscope_metric_desc kMetrics[]; kNeedsReference (0 never, 1 must have it, 2 judges more with it); a
// constructor (Host, std::string_view options_json); optionally kOptions[]. Members are called from any
// thread.
class Judgement {
 public:
  virtual ~Judgement() = default;
  virtual bool applies(const ulpscope_pair& pair, std::string& why_not) const = 0;
  virtual std::unique_ptr<Measure> begin(const ulpscope_pair& pair) const = 0;
  // A pure function of numbers; reference is null when there is none.
  virtual void judge(const ulpscope_pair& pair, const ulpscope_metric* metrics,
                     const ulpscope_metric* reference, ulpscope_verdict& out) const = 0;
};

// Receives the outputs of a run; the returned memory belongs to the host and holds shape × dtype bytes.
class OutputSink {
 public:
  explicit OutputSink(const ulpscope_output_sink* table) : table_(table) {}
  void* add(std::string_view path, DType dtype, const Shape& shape);

 private:
  const ulpscope_output_sink* table_;
};

// Runs one recorded op again. The class also has: kName, kSummary; a constructor (Host, std::string_view
// options_json); optionally kOptions[]. Members are called from any thread.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual bool supports(const ulpscope_op_record& op) const = 0;
  virtual void run(const ulpscope_op_record& op, const ulpscope_tensor* inputs, uint32_t input_count,
                   OutputSink& out) const = 0;
};

// Sets metric index of a measurement to value and marks it available.
inline void set(ulpscope_measurement& out, uint32_t index, double value) {
  if (index < out.metric_count) out.metrics[index] = {value, 1, 0};
}

}  // namespace ulpscope

#include <ulpscope/detail/tables.hpp>

#ifndef ULPSCOPE_ENTRY
#define ULPSCOPE_ENTRY ulpscope_plugin_entry
#endif
#ifndef ULPSCOPE_BUILD_TEXT
#define ULPSCOPE_BUILD_TEXT __VERSION__
#endif

#define ULPSCOPE_COMPONENT_SOURCE(T) \
  { ULPSCOPE_SOURCE, 0, ::ulpscope::source<T>() }
#define ULPSCOPE_COMPONENT_JUDGEMENT(T) \
  { ULPSCOPE_JUDGEMENT, 0, ::ulpscope::judgement<T>() }
#define ULPSCOPE_COMPONENT_EXECUTOR(T) \
  { ULPSCOPE_EXECUTOR, 0, ::ulpscope::executor<T>() }

// Defines the entry of a plugin that holds the components listed after LICENSE.
#define ULPSCOPE_PLUGIN(NAME, VERSION, VENDOR, LICENSE, ...)               \
  ULPSCOPE_PLUGIN_MARK;                                                    \
  extern "C" ULPSCOPE_EXPORT const ulpscope_plugin* ULPSCOPE_ENTRY(void);  \
  extern "C" const ulpscope_plugin* ULPSCOPE_ENTRY(void) {                 \
    static const ulpscope_component components[] = {__VA_ARGS__};          \
    static const ulpscope_plugin plugin = {                                \
        ULPSCOPE_ABI_MAJOR,                                                \
        ULPSCOPE_ABI_MINOR,                                                \
        static_cast<uint32_t>(sizeof(ulpscope_plugin)),                    \
        0,                                                                 \
        NAME,                                                              \
        VERSION,                                                           \
        VENDOR,                                                            \
        LICENSE,                                                           \
        ULPSCOPE_BUILD_TEXT,                                               \
        static_cast<uint32_t>(sizeof(components) / sizeof(components[0])), \
        0,                                                                 \
        components,                                                        \
        nullptr};                                                          \
    return &plugin;                                                        \
  }                                                                        \
  static_assert(true, "a semicolon may follow")
