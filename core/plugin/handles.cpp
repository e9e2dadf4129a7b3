#include "plugin/handles.hpp"

#include <cstring>
#include <exception>
#include <utility>

#include "plugin/running_call.hpp"

namespace ulpscope {
namespace {

Error contract_error(const ComponentName& component, const std::string& text) {
  return {Code::internal, component.text() + ": " + text};
}

template <size_t N>
std::string fixed_text(const char (&text)[N]) {
  return {text, ::strnlen(text, N)};
}

// The error of a call that answered status, with the plugin's own words where it has any. What it says of its
// input speaks for itself; a mistake of its own code names it.
Error error_of(const ComponentName& component, const char* what, ulpscope_status status,
               const ulpscope_error& err) {
  const bool known = status >= ULPSCOPE_E_USAGE && status <= ULPSCOPE_E_INTERNAL;
  std::string text = fixed_text(err.message);
  if (!known)
    return contract_error(component,
                          std::string(what) + " answered unknown status " + std::to_string(status));
  if (text.empty())
    return {static_cast<Code>(status), component.text() + ": " + what + " failed without a reason"};
  if (status == ULPSCOPE_E_INTERNAL) return contract_error(component, std::string(what) + ": " + text);
  return {static_cast<Code>(status), std::move(text)};
}

// Calls one function of a table: body(err) returns its status.
template <class F>
Status call(const ComponentName& component, const char* what, F body) {
  ulpscope_error err;
  err.code = 0;
  err.message[0] = '\0';
  try {
    const CallMark mark({component, what});
    const ulpscope_status status = body(&err);
    if (status == ULPSCOPE_OK) return {};
    return error_of(component, what, status, err);
  } catch (const std::exception& e) {
    return contract_error(component, std::string(what) + " threw: " + e.what());
  } catch (...) {
    return contract_error(component, std::string(what) + " threw an exception of unknown type");
  }
}

ComponentName named(const ulpscope_source_desc& desc) { return {"source", desc.name}; }
ComponentName named(const ulpscope_judgement_desc& desc) { return {"judgement", desc.name}; }
ComponentName named(const ulpscope_executor_desc& desc) { return {"executor", desc.name}; }

bool is_verdict(int32_t value) { return value >= ULPSCOPE_SKIP && value <= ULPSCOPE_FAIL; }

}  // namespace

void ObjectEnd::operator()(void* object) const noexcept {
  try {
    const CallMark mark({owner, "its end"});
    if (end != nullptr) end(object);
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

Result<size_t> StreamHandle::read(std::span<std::byte> dst) {
  uint64_t got = 0;
  ULPSCOPE_TRY(call(named(desc_), "stream_read", [&](ulpscope_error* err) {
    return desc_.stream_read(stream_.get(), dst.data(), dst.size(), &got, err);
  }));
  if (got > dst.size())
    return contract_error(named(desc_), "stream_read gave " + std::to_string(got) +
                                            " bytes, expected at most " + std::to_string(dst.size()));
  return static_cast<size_t>(got);
}

Result<SourceHandle> SourceHandle::open(const ulpscope_source_desc& desc, const ulpscope_host* host,
                                        const std::string& path, std::string_view options_json) {
  void* self = nullptr;
  ULPSCOPE_TRY(call(named(desc), "open", [&](ulpscope_error* err) {
    return desc.open(host, to_str(path), to_str(options_json), &self, err);
  }));
  return SourceHandle(desc, PluginObject(self, {desc.close, named(desc)}), path);
}

Status SourceHandle::scan(const ulpscope_record_sink& sink) {
  if (scanned_) return contract_error(named(desc_), "scan was called a second time");
  scanned_ = true;
  return call(named(desc_), "scan", [&](ulpscope_error* err) { return desc_.scan(self_.get(), &sink, err); });
}

Result<ulpscope_data_ref> SourceHandle::locate(uint64_t token) const {
  if (desc_.locate == nullptr)
    return Error{Code::unsupported, named(desc_).text() + ": has no late data, locate is missing"};
  ulpscope_data_ref ref = {};
  ULPSCOPE_TRY(call(named(desc_), "locate",
                    [&](ulpscope_error* err) { return desc_.locate(self_.get(), token, &ref, err); }));
  if (ref.kind != ULPSCOPE_DATA_FILE && ref.kind != ULPSCOPE_DATA_STREAM && ref.kind != ULPSCOPE_DATA_NONE)
    return contract_error(named(desc_), "locate answered data of kind " + std::to_string(ref.kind) +
                                            ", expected a file, a stream or none");
  return ref;
}

Result<StreamHandle> SourceHandle::open_stream(uint64_t token) const {
  if (desc_.stream_open == nullptr)
    return Error{Code::unsupported, named(desc_).text() + ": has no streams, stream_open is missing"};
  void* stream = nullptr;
  ULPSCOPE_TRY(call(named(desc_), "stream_open", [&](ulpscope_error* err) {
    return desc_.stream_open(self_.get(), token, &stream, err);
  }));
  if (stream == nullptr) return contract_error(named(desc_), "stream_open gave no stream");
  return StreamHandle(desc_, PluginObject(stream, {desc_.stream_close, named(desc_)}));
}

ProbeAnswer probe(const ulpscope_source_desc& desc, const ulpscope_host* host, const std::string& path) {
  ulpscope_probe answer = {};
  const Status status = call(named(desc), "probe", [&](ulpscope_error* err) {
    return desc.probe(host, to_str(path), &answer, err);
  });
  if (!status.ok()) return {0, status.error().message};
  if (answer.score < 0 || answer.score > 100)
    return {0, named(desc).text() + ": probe scored " + std::to_string(answer.score) + ", expected 0 to 100"};
  return {answer.score, fixed_text(answer.why)};
}

Status MeasureHandle::consume(const ulpscope_view& actual, const ulpscope_view& golden) {
  return call(named(desc_), "consume",
              [&](ulpscope_error* err) { return desc_.consume(measure_.get(), &actual, &golden, err); });
}

Status MeasureHandle::merge(const MeasureHandle& next_part) {
  return call(named(desc_), "merge", [&](ulpscope_error* err) {
    return desc_.merge(measure_.get(), next_part.measure_.get(), err);
  });
}

Result<Measurement> MeasureHandle::finish() {
  Measurement result;
  result.metrics.resize(desc_.metric_count);
  ulpscope_measurement out = {};
  out.struct_size = static_cast<uint32_t>(sizeof(out));
  out.metric_count = desc_.metric_count;
  out.metrics = result.metrics.data();
  ULPSCOPE_TRY(call(named(desc_), "finish",
                    [&](ulpscope_error* err) { return desc_.finish(measure_.get(), &out, err); }));
  if (out.worst_count > std::size(out.worst))
    return contract_error(named(desc_), "finish gave " + std::to_string(out.worst_count) +
                                            " worst elements, expected at most 4");
  result.worst.assign(out.worst, out.worst + out.worst_count);
  return result;
}

Result<JudgementHandle> JudgementHandle::create(const ulpscope_judgement_desc& desc,
                                                const ulpscope_host* host, std::string_view options_json) {
  void* self = nullptr;
  ULPSCOPE_TRY(call(named(desc), "create", [&](ulpscope_error* err) {
    return desc.create(host, to_str(options_json), &self, err);
  }));
  return JudgementHandle(desc, PluginObject(self, {desc.destroy, named(desc)}));
}

bool JudgementHandle::applies(const ulpscope_pair& pair, std::string& why_not) const {
  int32_t answer = 0;
  ulpscope_error reason = {};
  const Status status = call(named(desc_), "applies", [&](ulpscope_error*) {
    answer = desc_.applies(self_.get(), &pair, &reason);
    return ULPSCOPE_OK;
  });
  if (!status.ok()) why_not = status.error().message;
  if (status.ok() && answer == 0) why_not = fixed_text(reason.message);
  return status.ok() && answer != 0;
}

Result<MeasureHandle> JudgementHandle::begin(const ulpscope_pair& pair) const {
  void* measure = nullptr;
  ULPSCOPE_TRY(call(named(desc_), "begin",
                    [&](ulpscope_error* err) { return desc_.begin(self_.get(), &pair, &measure, err); }));
  if (measure == nullptr) return contract_error(named(desc_), "begin gave no measure");
  return MeasureHandle(desc_, PluginObject(measure, {desc_.end, named(desc_)}));
}

Result<PairVerdict> JudgementHandle::judge(const ulpscope_pair& pair,
                                           std::span<const ulpscope_metric> metrics,
                                           std::span<const ulpscope_metric> reference) const {
  const size_t expected = desc_.metric_count;
  if (metrics.size() != expected || (!reference.empty() && reference.size() != expected))
    return contract_error(named(desc_), "judge was given " + std::to_string(metrics.size()) + " and " +
                                            std::to_string(reference.size()) + " metrics, expected " +
                                            std::to_string(expected));
  PairVerdict result;
  result.per_metric.assign(expected, ULPSCOPE_SKIP);
  ulpscope_verdict out = {};
  out.struct_size = static_cast<uint32_t>(sizeof(out));
  out.metric_count = desc_.metric_count;
  out.per_metric = result.per_metric.data();
  ULPSCOPE_TRY(call(named(desc_), "judge", [&](ulpscope_error* err) {
    return desc_.judge(self_.get(), &pair, metrics.data(), reference.empty() ? nullptr : reference.data(),
                       &out, err);
  }));
  for (const int32_t value : result.per_metric)
    if (!is_verdict(value))
      return contract_error(named(desc_),
                            "judge gave verdict " + std::to_string(value) + ", expected 0 to 3");
  if (!is_verdict(out.overall))
    return contract_error(named(desc_),
                          "judge gave verdict " + std::to_string(out.overall) + ", expected 0 to 3");
  result.overall = out.overall;
  result.message = fixed_text(out.message);
  return result;
}

Result<ExecutorHandle> ExecutorHandle::create(const ulpscope_executor_desc& desc, const ulpscope_host* host,
                                              std::string_view options_json) {
  void* self = nullptr;
  ULPSCOPE_TRY(call(named(desc), "create", [&](ulpscope_error* err) {
    return desc.create(host, to_str(options_json), &self, err);
  }));
  return ExecutorHandle(desc, PluginObject(self, {desc.destroy, named(desc)}));
}

bool ExecutorHandle::supports(const ulpscope_op_record& op) const {
  int32_t answer = 0;
  const Status status = call(named(desc_), "supports", [&](ulpscope_error*) {
    answer = desc_.supports(self_.get(), &op);
    return ULPSCOPE_OK;
  });
  return status.ok() && answer != 0;
}

Status ExecutorHandle::run(const ulpscope_op_record& op, std::span<const ulpscope_tensor> inputs,
                           const ulpscope_output_sink& out) const {
  if (inputs.size() > kNoIndex) return contract_error(named(desc_), "run was given too many inputs");
  return call(named(desc_), "run", [&](ulpscope_error* err) {
    return desc_.run(self_.get(), &op, inputs.data(), static_cast<uint32_t>(inputs.size()), &out, err);
  });
}

}  // namespace ulpscope
