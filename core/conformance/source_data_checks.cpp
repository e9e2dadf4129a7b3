#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <latch>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "conformance/check.hpp"
#include "conformance/quiet_watch.hpp"
#include "conformance/recorder.hpp"
#include "conformance/scratch_folder.hpp"
#include "conformance/source_sample.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kLimitSeconds = 30;
constexpr uint64_t kMostBytes = uint64_t{1} << 20;  // of one tensor that are read
constexpr size_t kMostTensors = 64;                 // whose data is read

// A thing that is asked for many tensors, and failed for some.
struct Failures {
  size_t asked = 0, failed = 0;
  Error first;
  bool is_broken = false;  // an answer against the contract, not a word about the dump

  void add(const Error& error) {
    if (failed++ == 0 || (error.code == Code::internal && !is_broken)) first = error;
    is_broken |= error.code == Code::internal;
  }
  // Some of a sample may well be missing; all of it may not.
  void report(std::string_view what, CheckFindings& report) const {
    if (failed == 0) return;
    const std::string text =
        fmt::format("{}: {} of {} fail, the first with: {}", what, failed, asked, first.message);
    is_broken || failed == asked ? report.error(text) : report.warning(text);
  }
};

void check_locate(const CheckSubject& subject, CheckFindings& report) {
  const CheckHost host;
  for_scanned_samples(subject, report, host, [&](const SourceHandle& source, const Recorder& recorder) {
    Failures failures;
    for (const RecordedTensor& tensor : recorder.tensors()) {
      if (tensor.data.kind != ULPSCOPE_DATA_LATER) continue;
      ++failures.asked;
      const auto data = source.locate(tensor.data.token);
      if (!data.ok()) failures.add({data.error().code, tensor.name + ": " + data.error().message});
    }
    failures.report("locate", report);
  });
}

// What the late data of the tensors is, as text. Each thread begins with another tensor, so that they ask for
// different ones at a time.
std::vector<std::string> locate_all(const SourceHandle& source, const std::vector<uint64_t>& tokens,
                                    size_t begin) {
  std::vector<std::string> found(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    const size_t at = (begin + i) % tokens.size();
    const auto data = source.locate(tokens[at]);
    found[at] = data.ok() ? fmt::format("{} {} {} {} {}", data->kind, to_view(data->file), data->offset,
                                        data->size, data->token)
                          : data.error().message;
  }
  return found;
}

void check_locate_threads(const CheckSubject& subject, CheckFindings& report) {
  constexpr size_t kThreads = 8;
  constexpr auto kLeastTime = std::chrono::milliseconds(300);  // a race needs some tries to show itself
  const CheckHost host;
  for_scanned_samples(subject, report, host, [&](const SourceHandle& source, const Recorder& recorder) {
    std::vector<uint64_t> tokens;
    for (const RecordedTensor& tensor : recorder.tensors())
      if (tensor.data.kind == ULPSCOPE_DATA_LATER) tokens.push_back(tensor.data.token);
    if (tokens.empty()) return;
    const std::vector<std::string> alone = locate_all(source, tokens, 0);
    std::vector<int> differs(kThreads, 0);
    std::latch start(kThreads);
    {
      std::vector<std::jthread> threads;
      threads.reserve(kThreads);
      for (size_t i = 0; i < kThreads; ++i)
        threads.emplace_back([&, i] {
          start.arrive_and_wait();
          const Clock::time_point end = Clock::now() + kLeastTime;
          do {
            if (locate_all(source, tokens, i * tokens.size() / kThreads) != alone) differs[i] = 1;
          } while (differs[i] == 0 && Clock::now() < end);
        });
    }
    if (std::find(differs.begin(), differs.end(), 1) != differs.end())
      report.error("locate answers otherwise when eight threads ask at once");
  });
}

void compare_pieces(const SourceHandle& source, const std::string& root, const RecordedTensor& tensor,
                    const std::string& whole, CheckFindings& report) {
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{4096}}) {
    const uint64_t most = std::min<uint64_t>(kMostBytes, piece * 65536);
    const auto pieces = bytes_of(source, root, tensor, piece, most);
    const size_t compared = pieces.ok() ? std::min(pieces->size(), whole.size()) : 0;
    if (!pieces.ok() || pieces->compare(0, compared, whole, 0, compared) != 0 ||
        pieces->size() < std::min<uint64_t>(whole.size(), most))
      report.error(fmt::format("{}: reading {} bytes at a time gives other data", tensor.name, piece));
  }
  if (const auto size = size_of(tensor); size && *size <= kMostBytes && *size != whole.size())
    report.error(fmt::format("{}: {} bytes of data, expected {} by shape and element type", tensor.name,
                             whole.size(), *size));
}

void check_streams(const CheckSubject& subject, CheckFindings& report) {
  const CheckHost host;
  for_scanned_samples(subject, report, host, [&](const SourceHandle& source, const Recorder& recorder) {
    const std::string root = dump_root(subject.sample);
    Failures failures;
    for (const RecordedTensor& tensor : recorder.tensors()) {
      if (tensor.data.kind != ULPSCOPE_DATA_LATER && tensor.data.kind != ULPSCOPE_DATA_STREAM) continue;
      if (++failures.asked > kMostTensors) break;
      const auto whole = bytes_of(source, root, tensor, kMostBytes, kMostBytes);
      if (whole.ok())
        compare_pieces(source, root, tensor, *whole, report);
      else
        failures.add({whole.error().code, tensor.name + ": " + whole.error().message});
    }
    failures.report("reading late and streamed data", report);
  });
}

// Scans path and reads what it holds.
void read_everything(const ulpscope_source_desc& desc, const CheckHost& host, const std::string& path) {
  (void)probe(desc, host.table(), path);
  auto source = SourceHandle::open(desc, host.table(), path, "{}");
  Recorder recorder;
  if (!source.ok() || !source->scan(recorder.sink()).ok()) return;
  size_t read = 0;
  for (const RecordedTensor& tensor : recorder.tensors())
    if (++read <= kMostTensors) (void)bytes_of(*source, dump_root(path), tensor, kMostBytes, kMostBytes);
}

void check_quiet(const CheckSubject& subject, CheckFindings& report) {
  const CheckHost host;
  for_sources_of_sample(subject, report, host, [&](const ulpscope_source_desc& desc) {
    const QuietWatch watch;
    read_everything(desc, host, subject.sample);
    watch.report("while it reads the sample", report);
  });
}

void check_empty_tensors(const SourceHandle& source, const std::string& root, const Recorder& recorder,
                         CheckFindings& report) {
  for (const RecordedTensor& tensor : recorder.tensors()) {
    if (size_of(tensor) != uint64_t{0} || tensor.data.kind == ULPSCOPE_DATA_NONE) continue;
    const auto bytes = bytes_of(source, root, tensor, 16, 16);
    if (!bytes.ok()) report.error(fmt::format("{}, which is empty: {}", tensor.name, bytes.error().message));
    if (bytes.ok() && !bytes->empty())
      report.error(fmt::format("{} is empty, and reading it gives bytes", tensor.name));
  }
}

// The sample with nothing in its files, as a run leaves it that ended before it wrote.
bool empty_all_files(const fs::path& root) {
  bool any = false;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(root, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_symlink(ignored) || !entry->is_regular_file(ignored)) continue;
    std::ofstream(entry->path(), std::ios::trunc).close();
    any = true;
  }
  return any && !error;
}

void check_empty(const CheckSubject& subject, CheckFindings& report) {
  const CheckHost host;
  const fs::path root = dump_root(subject.sample);
  for_scanned_samples(subject, report, host, [&](const SourceHandle& source, const Recorder& recorder) {
    check_empty_tensors(source, root, recorder, report);
  });
  const ScratchFolder scratch;
  const fs::path copy = scratch / "sample";
  std::error_code error;
  fs::copy(root, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error || !empty_all_files(copy)) return;
  const bool is_folder = fs::is_directory(subject.sample, error);
  const std::string emptied = (is_folder ? copy : copy / fs::path(subject.sample).filename()).string();
  for_sources_of_sample(subject, report, host, [&](const ulpscope_source_desc& desc) {
    Recorder recorder;
    const Status status = scan_once(desc, host.table(), emptied, recorder);
    if (!status.ok() && status.error().code == Code::internal)
      report.error("the sample with every file emptied: " + status.error().message);
    else if (status.ok() && recorder.diagnoses().empty() && recorder.tensors().empty())
      report.warning(
          "the sample with every file emptied gives neither records nor an error nor a diagnosis: "
          "the user will not learn that everything is lost");
  });
}

}  // namespace

std::vector<Check> source_data_checks() {
  constexpr CheckKind kind = CheckKind::source;
  return {
      {"source.locate", kind, true, kLimitSeconds, "locate finds the late data of the sample", check_locate},
      {"source.locate_threads", kind, true, kLimitSeconds,
       "locate answers the same from eight threads at once", check_locate_threads},
      {"source.streams", kind, true, kLimitSeconds,
       "data can be read, never more than was asked for, and is the same in pieces of any size",
       check_streams},
      {"source.empty", kind, true, kLimitSeconds,
       "empty tensors read as nothing, and empty files are an error or a diagnosis", check_empty},
      {"source.quiet", kind, true, kLimitSeconds,
       "scanning and reading print nothing and change nothing around", check_quiet},
  };
}

}  // namespace ulpscope
