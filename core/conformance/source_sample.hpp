// What the checks of a source share: its components, those that take the sample, and what the sample's scan
// gave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/folder.hpp"
#include "conformance/check.hpp"
#include "conformance/recorder.hpp"

namespace ulpscope {

// Calls body(desc) for each source of the plugin.
template <class F>
void for_sources(const CheckSubject& subject, CheckFindings& report, F body) {
  for (const ulpscope_source_desc& desc : subject.tables->sources) {
    report.set_component(desc.name);
    body(desc);
  }
}

// The sources that take the sample: a plugin may hold several, of which the sample is for one.
template <class F>
void for_sources_of_sample(const CheckSubject& subject, CheckFindings& report, const CheckHost& host,
                           F body) {
  for_sources(subject, report, [&](const ulpscope_source_desc& desc) {
    if (subject.tables->sources.size() == 1 || probe(desc, host.table(), subject.sample).score > 0)
      body(desc);
  });
}

// Calls body(source, records) for each source of the sample, scanned. One that cannot be scanned is left out:
// source.scan_twice reports it.
template <class F>
void for_scanned_samples(const CheckSubject& subject, CheckFindings& report, const CheckHost& host, F body) {
  for_sources_of_sample(subject, report, host, [&](const ulpscope_source_desc& desc) {
    auto source = SourceHandle::open(desc, host.table(), subject.sample, "{}");
    Recorder recorder;
    if (source.ok() && source->scan(recorder.sink()).ok()) body(*source, std::as_const(recorder));
  });
}

// Bytes that the elements of a tensor take; nothing when the element type has no size of its own.
inline std::optional<uint64_t> size_of(const RecordedTensor& tensor) {
  uint64_t count = 1;
  for (const int64_t dim : tensor.dims)
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count)) return std::nullopt;
  const unsigned width = bits(tensor.dtype);
  if (width == 0 || __builtin_mul_overflow(count, uint64_t{width}, &count)) return std::nullopt;
  return (count + 7) / 8;
}

}  // namespace ulpscope
