// Builds the constant C tables of a component from its C++ class. Included by plugin.hpp; not for direct use.
// Every table entry is a captureless lambda whose body runs inside guard, so that nothing thrown leaves the
// plugin.
#pragma once

#include <ulpscope/detail/guard.hpp>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

namespace ulpscope {
namespace detail {

template <class T, class = void>
struct Options {
  static constexpr uint32_t kCount = 0;
  static constexpr const ulpscope_option_desc* kData = nullptr;
};
template <class T>
struct Options<T, std::void_t<decltype(T::kOptions)>> {
  static constexpr uint32_t kCount =
      static_cast<uint32_t>(std::extent_v<std::remove_reference_t<decltype(T::kOptions)>>);
  static constexpr const ulpscope_option_desc* kData = T::kOptions;
};

// A source object and the file names that its locate has handed out, which stay valid until close.
struct SourceBox {
  std::unique_ptr<Source> source;
  std::mutex names_mutex;
  std::set<std::string> names;  // nodes: an address stays good when others come
};

inline void fill(SourceBox& box, const DataRef& ref, ulpscope_data_ref& out) {
  out = {ref.kind, 0, {nullptr, 0}, ref.offset, ref.size, ref.token};
  if (ref.file.empty()) return;
  const std::lock_guard<std::mutex> lock(box.names_mutex);
  out.file = to_str(*box.names.insert(ref.file).first);
}

inline ulpscope_data_ref to_c(const DataRef& ref) {
  return {ref.kind, 0, to_str(ref.file), ref.offset, ref.size, ref.token};
}

}  // namespace detail

inline uint32_t RecordSink::add(const OpRecord& op) {
  const ulpscope_op_record c = {static_cast<uint32_t>(sizeof(ulpscope_op_record)),
                                static_cast<int32_t>(op.kind),
                                static_cast<int32_t>(op.phase),
                                op.step,
                                op.rank,
                                op.call,
                                op.parent,
                                op.token,
                                to_str(op.name),
                                to_str(op.type),
                                to_str(op.stack),
                                to_str(op.attributes_json),
                                to_str(op.originals)};
  uint32_t index = 0;
  ulpscope_error err = {};
  const ulpscope_status status = table_->add_op(table_->ctx, &c, &index, &err);
  if (status != ULPSCOPE_OK) throw Failure(status, err.message);
  return index;
}

inline uint32_t RecordSink::add(const TensorRecord& t) {
  const ulpscope_tensor_record c = {static_cast<uint32_t>(sizeof(ulpscope_tensor_record)),
                                    t.op,
                                    static_cast<int32_t>(t.role),
                                    static_cast<int32_t>(t.dtype),
                                    to_str(t.path),
                                    t.shape.data(),
                                    static_cast<uint32_t>(t.shape.size()),
                                    t.flags,
                                    detail::to_c(t.data),
                                    t.stats,
                                    to_str(t.digest),
                                    to_str(t.link),
                                    to_str(t.origin),
                                    to_str(t.storage),
                                    t.absent,
                                    0};
  uint32_t index = 0;
  ulpscope_error err = {};
  const ulpscope_status status = table_->add_tensor(table_->ctx, &c, &index, &err);
  if (status != ULPSCOPE_OK) throw Failure(status, err.message);
  return index;
}

inline void* OutputSink::add(std::string_view path, DType dtype, const Shape& shape) {
  void* dst = nullptr;
  ulpscope_error err = {};
  const ulpscope_status status =
      table_->add_output(table_->ctx, to_str(path), static_cast<int32_t>(dtype), shape.data(),
                         static_cast<uint32_t>(shape.size()), &dst, &err);
  if (status != ULPSCOPE_OK) throw Failure(status, err.message);
  return dst;
}

template <class T>
const ulpscope_source_desc* source() {
  using detail::SourceBox;
  static const ulpscope_source_desc desc = {
      static_cast<uint32_t>(sizeof(ulpscope_source_desc)),
      detail::Options<T>::kCount,
      detail::Options<T>::kData,
      T::kName,
      T::kSummary,
      [](const ulpscope_host*, ulpscope_str path, ulpscope_probe* out, ulpscope_error* err) {
        return detail::guard(err, [&] {
          const Probe probe = T::probe(to_view(path));
          out->score = probe.score;
          set_text(out->why, probe.why);
        });
      },
      [](const ulpscope_host* host, ulpscope_str path, ulpscope_str options, void** self,
         ulpscope_error* err) {
        return detail::guard(err, [&] {
          auto box = std::make_unique<SourceBox>();
          box->source = std::make_unique<T>(Host(host), to_view(path), to_view(options));
          *self = box.release();
        });
      },
      [](void* self) { delete static_cast<SourceBox*>(self); },
      [](void* self, const ulpscope_record_sink* sink, ulpscope_error* err) {
        return detail::guard(err, [&] {
          RecordSink records(sink);
          static_cast<SourceBox*>(self)->source->scan(records);
        });
      },
      [](void* self, uint64_t token, ulpscope_data_ref* out, ulpscope_error* err) {
        return detail::guard(err, [&] {
          auto* box = static_cast<SourceBox*>(self);
          detail::fill(*box, box->source->locate(token), *out);
        });
      },
      [](void* self, uint64_t token, void** stream, ulpscope_error* err) {
        return detail::guard(
            err, [&] { *stream = static_cast<SourceBox*>(self)->source->stream(token).release(); });
      },
      [](void* stream, void* dst, uint64_t size, uint64_t* got, ulpscope_error* err) {
        return detail::guard(err, [&] { *got = static_cast<ByteStream*>(stream)->read(dst, size); });
      },
      [](void* stream) { delete static_cast<ByteStream*>(stream); }};
  return &desc;
}

template <class T>
const ulpscope_judgement_desc* judgement() {
  constexpr auto kCount =
      static_cast<uint32_t>(std::extent_v<std::remove_reference_t<decltype(T::kMetrics)>>);
  static const ulpscope_judgement_desc desc = {
      static_cast<uint32_t>(sizeof(ulpscope_judgement_desc)),
      detail::Options<T>::kCount,
      detail::Options<T>::kData,
      T::kName,
      T::kSummary,
      kCount,
      static_cast<uint32_t>(T::kNeedsReference),
      T::kMetrics,
      [](const ulpscope_host* host, ulpscope_str options, void** self, ulpscope_error* err) {
        return detail::guard(err,
                             [&] { *self = std::make_unique<T>(Host(host), to_view(options)).release(); });
      },
      [](void* self) { delete static_cast<T*>(self); },
      [](void* self, const ulpscope_pair* pair, ulpscope_error* reason) -> int32_t {
        bool applies = false;
        std::string why_not;
        const ulpscope_status status =
            detail::guard(reason, [&] { applies = static_cast<const T*>(self)->applies(*pair, why_not); });
        if (status == ULPSCOPE_OK && !applies) detail::fill(reason, ULPSCOPE_E_UNSUPPORTED, why_not.c_str());
        return status == ULPSCOPE_OK && applies ? 1 : 0;
      },
      [](void* self, const ulpscope_pair* pair, void** measure, ulpscope_error* err) {
        return detail::guard(err, [&] { *measure = static_cast<const T*>(self)->begin(*pair).release(); });
      },
      [](void* measure, const ulpscope_view* actual, const ulpscope_view* golden, ulpscope_error* err) {
        return detail::guard(err, [&] { static_cast<Measure*>(measure)->consume(*actual, *golden); });
      },
      [](void* measure, const void* next, ulpscope_error* err) {
        return detail::guard(
            err, [&] { static_cast<Measure*>(measure)->merge(*static_cast<const Measure*>(next)); });
      },
      [](void* measure, ulpscope_measurement* out, ulpscope_error* err) {
        return detail::guard(err, [&] { static_cast<const Measure*>(measure)->finish(*out); });
      },
      [](void* measure) { delete static_cast<Measure*>(measure); },
      [](void* self, const ulpscope_pair* pair, const ulpscope_metric* metrics,
         const ulpscope_metric* reference, ulpscope_verdict* out, ulpscope_error* err) {
        return detail::guard(err,
                             [&] { static_cast<const T*>(self)->judge(*pair, metrics, reference, *out); });
      }};
  return &desc;
}

template <class T>
const ulpscope_executor_desc* executor() {
  static const ulpscope_executor_desc desc = {
      static_cast<uint32_t>(sizeof(ulpscope_executor_desc)),
      detail::Options<T>::kCount,
      detail::Options<T>::kData,
      T::kName,
      T::kSummary,
      [](const ulpscope_host* host, ulpscope_str options, void** self, ulpscope_error* err) {
        return detail::guard(err,
                             [&] { *self = std::make_unique<T>(Host(host), to_view(options)).release(); });
      },
      [](void* self) { delete static_cast<T*>(self); },
      [](void* self, const ulpscope_op_record* op) -> int32_t {
        bool supports = false;
        return detail::guard(nullptr, [&] { supports = static_cast<const T*>(self)->supports(*op); }) ==
                           ULPSCOPE_OK &&
                       supports
                   ? 1
                   : 0;
      },
      [](void* self, const ulpscope_op_record* op, const ulpscope_tensor* inputs, uint32_t input_count,
         const ulpscope_output_sink* out, ulpscope_error* err) {
        return detail::guard(err, [&] {
          OutputSink sink(out);
          static_cast<const T*>(self)->run(*op, inputs, input_count, sink);
        });
      }};
  return &desc;
}

}  // namespace ulpscope
