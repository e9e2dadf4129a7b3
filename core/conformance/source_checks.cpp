#include <ulpscope/types.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <latch>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "conformance/check.hpp"
#include "conformance/recorder.hpp"
#include "conformance/scratch_folder.hpp"
#include "conformance/source_damage.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kLimitSeconds = 30, kDamageSeconds = 300;
constexpr int64_t kMostProbeMilliseconds = 50, kMostCancelMilliseconds = 1000;
constexpr uint64_t kMostBytes = uint64_t{1} << 20;  // of one tensor that are read
constexpr size_t kMostTensors = 64;                 // whose data is read

int64_t milliseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

// Calls body(desc) for each source of the plugin.
template <class F>
void for_sources(const CheckSubject& subject, CheckReport& report, F body) {
  for (const ulpscope_source_desc& desc : subject.tables->sources) {
    report.set_component(desc.name);
    body(desc);
  }
}

// What no source may take for a dump.
struct Foreign {
  std::string what, path;
};

std::vector<Foreign> foreign_paths(const ScratchFolder& scratch) {
  std::string noise(4096, '\0');
  uint32_t state = 1;
  for (char& byte : noise) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<char>(state >> 24);
  }
  scratch.write("text.txt", "nothing that anybody dumped\n");
  scratch.write("noise", noise);
  fs::create_directory(scratch / "empty");
  return {{"a path that does not exist", scratch / "none"},
          {"a text file", scratch / "text.txt"},
          {"random bytes", scratch / "noise"},
          {"an empty folder", scratch / "empty"}};
}

// Unlike probe() of the host this tells an error apart from "not mine".
void probe_one(const ulpscope_source_desc& desc, const CheckHost& host, const Foreign& each,
               CheckReport& report) {
  ulpscope_probe answer = {};
  ulpscope_error err = {};
  const Clock::time_point start = Clock::now();
  try {
    desc.probe(host.table(), to_str(each.path), &answer, &err);
  } catch (const std::exception& e) {
    return report.error(fmt::format("probe of {} threw: {}", each.what, e.what()));
  } catch (...) {
    return report.error(fmt::format("probe of {} threw", each.what));
  }
  const int64_t took = milliseconds_since(start);
  if (answer.score != 0)
    report.error(fmt::format("probe of {} scored {}, expected 0", each.what, answer.score));
  if (took > kMostProbeMilliseconds)
    report.warning(
        fmt::format("probe of {} took {} ms, expected {} at most", each.what, took, kMostProbeMilliseconds));
}

void check_probe_foreign(const CheckSubject& subject, CheckReport& report) {
  const ScratchFolder scratch;
  const CheckHost host;
  for_sources(subject, report, [&](const ulpscope_source_desc& desc) {
    for (const Foreign& each : foreign_paths(scratch)) probe_one(desc, host, each, report);
  });
}

void check_open_foreign(const CheckSubject& subject, CheckReport& report) {
  const ScratchFolder scratch;
  const CheckHost host;
  for_sources(subject, report, [&](const ulpscope_source_desc& desc) {
    for (const Foreign& each : foreign_paths(scratch)) {
      Recorder recorder;
      const Status status = scan_once(desc, host.table(), each.path, recorder);
      if (!status.ok() && status.error().code == Code::internal)
        report.error(fmt::format("open or scan of {}: {}", each.what, status.error().message));
      else if (status.ok() && recorder.records() > 0)
        report.error(
            fmt::format("open of {} gave {} records, expected an error", each.what, recorder.records()));
      else if (status.ok() && recorder.lines().empty())
        report.warning(
            fmt::format("open of {} gave no error, and its scan no diagnosis: the user will not learn that "
                        "nothing was read",
                        each.what));
    }
  });
}

void check_sample_probe(const CheckSubject& subject, CheckReport& report) {
  const CheckHost host;
  bool taken = false;
  for (const ulpscope_source_desc& desc : subject.tables->sources)
    taken |= probe(desc, host.table(), subject.sample).score > 0;
  if (!taken) report.error("no source of the plugin takes the sample for its own: 'auto' will not find it");
}

// The sources that take the sample: a plugin may hold several, of which the sample is for one.
template <class F>
void for_sources_of_sample(const CheckSubject& subject, CheckReport& report, const CheckHost& host, F body) {
  for_sources(subject, report, [&](const ulpscope_source_desc& desc) {
    if (subject.tables->sources.size() == 1 || probe(desc, host.table(), subject.sample).score > 0)
      body(desc);
  });
}

void check_scan_twice(const CheckSubject& subject, CheckReport& report) {
  const CheckHost host;
  for_sources_of_sample(subject, report, host, [&](const ulpscope_source_desc& desc) {
    Recorder first, second;
    if (const Status status = scan_once(desc, host.table(), subject.sample, first); !status.ok())
      return report.error("scan of the sample: " + status.error().message);
    if (const Status status = scan_once(desc, host.table(), subject.sample, second); !status.ok())
      return report.error("second scan of the sample: " + status.error().message);
    if (first.records() == 0) report.error("scan of the sample gave no record");
    if (first.lines() == second.lines()) return;
    size_t at = 0;
    while (at < first.lines().size() && at < second.lines().size() && first.lines()[at] == second.lines()[at])
      ++at;
    report.error(fmt::format("two scans of the sample differ, first at record {}", at));
  });
}

void check_records(const CheckSubject& subject, CheckReport& report) {
  const CheckHost host;
  for_sources_of_sample(subject, report, host, [&](const ulpscope_source_desc& desc) {
    Recorder recorder;
    (void)scan_once(desc, host.table(), subject.sample, recorder);
    for (const std::string& text : recorder.mistakes()) report.error(text);
  });
}

// Bytes that the elements of a tensor take; nothing when the element type has no size of its own.
std::optional<uint64_t> size_of(const RecordedTensor& tensor) {
  uint64_t count = 1;
  for (const int64_t dim : tensor.dims)
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count)) return std::nullopt;
  const unsigned width = bits(tensor.dtype);
  if (width == 0 || __builtin_mul_overflow(count, uint64_t{width}, &count)) return std::nullopt;
  return (count + 7) / 8;
}

void check_one_range(const SourceHandle& source, const std::string& root, const RecordedTensor& tensor,
                     CheckReport& report) {
  ulpscope_data_ref data = tensor.data;
  std::string name = tensor.file;
  if (data.kind == ULPSCOPE_DATA_LATER) {
    const auto located = source.locate(data.token);
    if (!located.ok()) return;  // a damaged file, which the source may say
    data = *located;
    name = to_view(located->file);
  }
  if (data.kind != ULPSCOPE_DATA_FILE) return;
  const auto file = File::open_under(root, name);
  if (!file.ok()) return report.error(fmt::format("{}: {}", tensor.name, file.error().message));
  if (data.offset > file->size() || data.size > file->size() - data.offset)
    report.error(fmt::format("{}: bytes {} to {} of {}, which has {}", tensor.name, data.offset,
                             data.offset + data.size, name, file->size()));
  if (const auto size = size_of(tensor); size && *size != data.size)
    report.error(fmt::format("{}: {} bytes of data, expected {} by shape and element type", tensor.name,
                             data.size, *size));
}

void check_ranges(const CheckSubject& subject, CheckReport& report) {
  const CheckHost host;
  for_sources_of_sample(subject, report, host, [&](const ulpscope_source_desc& desc) {
    auto source = SourceHandle::open(desc, host.table(), subject.sample, "{}");
    Recorder recorder;
    if (!source.ok() || !source->scan(recorder.sink()).ok()) return;
    for (const RecordedTensor& tensor : recorder.tensors())
      check_one_range(*source, dump_root(subject.sample), tensor, report);
  });
}

void check_sink_fails(const CheckSubject& subject, CheckReport& report) {
  const CheckHost host;
  for_sources_of_sample(subject, report, host, [&](const ulpscope_source_desc& desc) {
    Recorder whole;
    if (!scan_once(desc, host.table(), subject.sample, whole).ok() || whole.records() == 0) return;
    for (const uint64_t at : {uint64_t{1}, whole.records() / 2 + 1, whole.records()}) {
      Recorder recorder(at);
      const Status status = scan_once(desc, host.table(), subject.sample, recorder);
      if (status.ok() || status.error().code != Code::unsupported)
        report.error(
            fmt::format("the sink refused record {}, and scan answered {}, expected the sink's status", at,
                        status.ok() ? "no error" : to_text(status.error().code)));
      if (recorder.calls_after_refusal() > 0)
        report.error(
            fmt::format("the sink refused record {}, and {} more came", at, recorder.calls_after_refusal()));
    }
  });
}

void check_cancel(const CheckSubject& subject, CheckReport& report) {
  const CheckHost whole_host;
  CheckHost host;
  host.cancel.request();
  for_sources_of_sample(subject, report, whole_host, [&](const ulpscope_source_desc& desc) {
    Recorder whole, recorder;
    if (!scan_once(desc, whole_host.table(), subject.sample, whole).ok()) return;
    const Clock::time_point start = Clock::now();
    const Status status = scan_once(desc, host.table(), subject.sample, recorder);
    const int64_t took = milliseconds_since(start);
    if (took > kMostCancelMilliseconds)
      report.error(fmt::format("went on for {} ms after it was cancelled", took));
    if (!status.ok() && status.error().code != Code::cancelled)
      report.error("was cancelled and answered: " + status.error().message);
    if (status.ok())
      report.warning("was cancelled before it began, and scanned the whole sample all the same");
  });
}

// What the late data of the tensors is, as text.
std::vector<std::string> locate_all(const SourceHandle& source, const std::vector<RecordedTensor>& tensors) {
  std::vector<std::string> found;
  for (const RecordedTensor& tensor : tensors) {
    if (tensor.data.kind != ULPSCOPE_DATA_LATER) continue;
    const auto data = source.locate(tensor.data.token);
    found.push_back(data.ok() ? fmt::format("{} {} {} {} {}", data->kind, to_view(data->file), data->offset,
                                            data->size, data->token)
                              : data.error().message);
  }
  return found;
}

void check_locate_threads(const CheckSubject& subject, CheckReport& report) {
  constexpr int kThreads = 8;
  const CheckHost host;
  for_sources_of_sample(subject, report, host, [&](const ulpscope_source_desc& desc) {
    auto source = SourceHandle::open(desc, host.table(), subject.sample, "{}");
    Recorder recorder;
    if (!source.ok() || !source->scan(recorder.sink()).ok()) return;
    std::vector<std::vector<std::string>> answers(kThreads);
    std::latch start(kThreads);
    {
      std::vector<std::jthread> threads;
      threads.reserve(answers.size());
      for (auto& answer : answers)
        threads.emplace_back([&] {
          start.arrive_and_wait();
          answer = locate_all(*source, recorder.tensors());
        });
    }
    const std::vector<std::string> alone = locate_all(*source, recorder.tensors());
    for (const auto& answer : answers)
      if (answer != alone) return report.error("locate answers otherwise when eight threads ask at once");
  });
}

void check_streams(const CheckSubject& subject, CheckReport& report) {
  const CheckHost host;
  for_sources_of_sample(subject, report, host, [&](const ulpscope_source_desc& desc) {
    auto source = SourceHandle::open(desc, host.table(), subject.sample, "{}");
    Recorder recorder;
    if (!source.ok() || !source->scan(recorder.sink()).ok()) return;
    size_t read = 0;
    for (const RecordedTensor& tensor : recorder.tensors()) {
      if (tensor.data.kind != ULPSCOPE_DATA_LATER && tensor.data.kind != ULPSCOPE_DATA_STREAM) continue;
      if (++read > kMostTensors) break;
      const std::string root = dump_root(subject.sample);
      const auto whole = bytes_of(*source, root, tensor, kMostBytes, kMostBytes);
      if (!whole.ok()) continue;
      for (const size_t piece : {size_t{1}, size_t{7}, size_t{4096}}) {
        const auto pieces =
            bytes_of(*source, root, tensor, piece, std::min<uint64_t>(kMostBytes, piece * 65536));
        const size_t compared = pieces.ok() ? std::min(pieces->size(), whole->size()) : 0;
        if (!pieces.ok() || pieces->compare(0, compared, *whole, 0, compared) != 0 ||
            pieces->size() < std::min<uint64_t>(whole->size(), piece * 65536))
          report.error(fmt::format("{}: reading {} bytes at a time gives other data", tensor.name, piece));
      }
      if (const auto size = size_of(tensor); size && *size <= kMostBytes && *size != whole->size())
        report.error(fmt::format("{}: {} bytes of data, expected {} by shape and element type", tensor.name,
                                 whole->size(), *size));
    }
  });
}

}  // namespace

std::vector<Check> source_checks() {
  constexpr CheckKind kind = CheckKind::source;
  return {
      {"source.probe_foreign", kind, false, kLimitSeconds,
       "scores 0 within 50 ms for a missing path, a text, random bytes and an empty folder",
       check_probe_foreign},
      {"source.open_foreign", kind, false, kLimitSeconds, "says so when it is given one of these to open",
       check_open_foreign},
      {"source.sample_probe", kind, true, kLimitSeconds, "takes the sample for its own", check_sample_probe},
      {"source.scan_twice", kind, true, kLimitSeconds, "two scans give the same records", check_scan_twice},
      {"source.records", kind, true, kLimitSeconds,
       "each op before its tensors, parents, types and shapes that exist", check_records},
      {"source.ranges", kind, true, kLimitSeconds,
       "each range lies inside its file and the dump, and is as long as shape and type say", check_ranges},
      {"source.sink_fails", kind, true, kLimitSeconds,
       "stops with the sink's status when the sink refuses a record", check_sink_fails},
      {"source.cancel", kind, true, kLimitSeconds, "stops within a second when the user wants to stop",
       check_cancel},
      {"source.locate_threads", kind, true, kLimitSeconds,
       "locate answers the same from eight threads at once", check_locate_threads},
      {"source.streams", kind, true, kLimitSeconds, "data is the same in pieces of any size", check_streams},
      {"source.damage", kind, true, kDamageSeconds,
       "files cut short and with flipped bits give errors or diagnostics, no crash", check_damage},
  };
}

}  // namespace ulpscope
