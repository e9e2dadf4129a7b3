#include <ulpscope/types.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "conformance/check.hpp"
#include "conformance/recorder.hpp"
#include "conformance/scratch_folder.hpp"
#include "conformance/source_damage.hpp"
#include "conformance/source_sample.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kLimitSeconds = 30, kDamageSeconds = 300;
constexpr int64_t kMostProbeMilliseconds = 50, kMostCancelMilliseconds = 1000;

int64_t milliseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
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
               CheckFindings& report) {
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

void check_probe_foreign(const CheckSubject& subject, CheckFindings& report) {
  const ScratchFolder scratch;
  const CheckHost host;
  for_sources(subject, report, [&](const ulpscope_source_desc& desc) {
    for (const Foreign& each : foreign_paths(scratch)) probe_one(desc, host, each, report);
  });
}

void check_open_foreign(const CheckSubject& subject, CheckFindings& report) {
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

// Not to be taken for a plugin that was tried and found good.
void check_sample(const CheckSubject& subject, CheckFindings& report) {
  if (!subject.sample.empty()) return;
  std::string names;
  size_t count = 0;
  for (const Check& check : source_checks()) {
    if (!check.needs_sample) continue;
    names += (names.empty() ? "" : ", ") + std::string(check.id.substr(check.id.find('.') + 1));
    ++count;
  }
  report.note(
      fmt::format("{} checks could not run without a sample of a dump (--dump SAMPLE): {}", count, names));
}

void check_sample_probe(const CheckSubject& subject, CheckFindings& report) {
  const CheckHost host;
  bool taken = false;
  for (const ulpscope_source_desc& desc : subject.tables->sources)
    taken |= probe(desc, host.table(), subject.sample).score > 0;
  if (!taken) report.error("no source of the plugin takes the sample for its own: 'auto' will not find it");
}

void check_scan_twice(const CheckSubject& subject, CheckFindings& report) {
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

void check_one_range(const SourceHandle& source, const std::string& root, const RecordedTensor& tensor,
                     CheckFindings& report) {
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

void check_ranges(const CheckSubject& subject, CheckFindings& report) {
  const CheckHost host;
  for_sources_of_sample(subject, report, host, [&](const ulpscope_source_desc& desc) {
    auto source = SourceHandle::open(desc, host.table(), subject.sample, "{}");
    Recorder recorder;
    if (!source.ok() || !source->scan(recorder.sink()).ok()) return;
    for (const RecordedTensor& tensor : recorder.tensors())
      check_one_range(*source, dump_root(subject.sample), tensor, report);
  });
}

void check_sink_fails(const CheckSubject& subject, CheckFindings& report) {
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

void check_cancel(const CheckSubject& subject, CheckFindings& report) {
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

}  // namespace

std::vector<Check> source_checks() {
  constexpr CheckKind kind = CheckKind::source;
  std::vector<Check> checks = {
      {"source.probe_foreign", kind, false, kLimitSeconds,
       "scores 0 within 50 ms for a missing path, a text, random bytes and an empty folder",
       check_probe_foreign},
      {"source.open_foreign", kind, false, kLimitSeconds, "says so when it is given one of these to open",
       check_open_foreign},
      {"source.sample", kind, false, kLimitSeconds, "has a sample of its dumps to be tried on", check_sample},
      {"source.sample_probe", kind, true, kLimitSeconds, "takes the sample for its own", check_sample_probe},
      {"source.scan_twice", kind, true, kLimitSeconds, "two scans give the same records", check_scan_twice},
  };
  const auto append = [&](std::vector<Check> more) {
    std::move(more.begin(), more.end(), std::back_inserter(checks));
  };
  append(source_record_checks());
  append({
      {"source.ranges", kind, true, kLimitSeconds,
       "each range lies inside its file and the dump, and is as long as shape and type say", check_ranges},
      {"source.sink_fails", kind, true, kLimitSeconds,
       "stops with the sink's status when the sink refuses a record", check_sink_fails},
      {"source.cancel", kind, true, kLimitSeconds, "stops within a second when the user wants to stop",
       check_cancel},
  });
  append(source_data_checks());
  append({{"source.damage", kind, true, kDamageSeconds,
           "files cut short and with flipped bits give errors or diagnostics, no crash", check_damage}});
  return checks;
}

}  // namespace ulpscope
