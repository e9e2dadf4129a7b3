#include "conformance/source_damage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "base/folder.hpp"
#include "conformance/child_process.hpp"
#include "conformance/recorder.hpp"
#include "conformance/scratch_folder.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr int kSecondsOfOne = 10;
constexpr size_t kMostLate = 3;  // tries that run out of time, after which there are no more
constexpr size_t kMostFiles = 12, kMostFileBytes = size_t{1} << 20, kCuts = 10, kFlips = 6;
constexpr uint64_t kMostBytes = uint64_t{1} << 20;

// Small files of the sample, of each extension at least one where there is room.
std::vector<fs::path> files_to_damage(const fs::path& root) {
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(root, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_symlink(ignored) && entry->is_regular_file(ignored) &&
        entry->file_size(ignored) <= kMostFileBytes)
      all.push_back(entry->path());
  }
  std::sort(all.begin(), all.end());
  std::vector<fs::path> chosen;
  for (size_t of_kind = 0; of_kind < kMostFiles && chosen.size() < kMostFiles; ++of_kind) {
    std::vector<std::pair<std::string, size_t>> seen;
    for (const fs::path& path : all) {
      const std::string extension = path.extension().string();
      auto known =
          std::find_if(seen.begin(), seen.end(), [&](const auto& each) { return each.first == extension; });
      if (known == seen.end()) known = seen.insert(seen.end(), {extension, 0});
      if (known->second++ == of_kind && chosen.size() < kMostFiles) chosen.push_back(path);
    }
  }
  return chosen;
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_to(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

// Opens, scans and reads what can be read. Errors are what is expected here.
void read_all(const ulpscope_source_desc& desc, const std::string& path) {
  const CheckHost host;
  auto source = SourceHandle::open(desc, host.table(), path, "{}");
  Recorder recorder;
  if (!source.ok()) return;
  (void)source->scan(recorder.sink());
  for (const RecordedTensor& tensor : recorder.tensors())
    (void)bytes_of(*source, dump_root(path), tensor, kMostBytes, kMostBytes);
}

struct Damage {
  std::string what, content;
};

std::vector<Damage> damages_of(const std::string& content) {
  std::vector<Damage> damages;
  for (size_t i = 0; i < kCuts; ++i) {
    const size_t size = content.size() * i / kCuts;
    damages.push_back({fmt::format("cut to {} bytes", size), content.substr(0, size)});
  }
  for (size_t i = 0; i < kFlips && !content.empty(); ++i) {
    // Near the beginning, where formats keep their numbers, and spread over the rest.
    const size_t at = i < kFlips / 2 ? i * 7 % content.size() : content.size() * i / kFlips;
    std::string changed = content;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (i % 8)) ^ 0x80);
    damages.push_back({fmt::format("byte {} changed", at), std::move(changed)});
  }
  return damages;
}

}  // namespace

void check_damage(const CheckSubject& subject, CheckFindings& report) {
  const ScratchFolder scratch;
  size_t late = 0;
  const fs::path root = dump_root(subject.sample), copy = scratch / "sample";
  std::error_code error;
  fs::copy(root, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) return report.error("the sample cannot be copied: " + error.message());
  const bool is_folder = fs::is_directory(subject.sample, error);
  const std::string sample = (is_folder ? copy : copy / fs::path(subject.sample).filename()).string();
  for (const ulpscope_source_desc& desc : subject.tables->sources) {
    report.set_component(desc.name);
    for (const fs::path& path : files_to_damage(copy)) {
      const std::string whole = content_of(path);
      for (const Damage& damage : damages_of(whole)) {
        write_to(path, damage.content);
        const auto fate = fate_in_child(kSecondsOfOne, [&] { read_all(desc, sample); });
        if (!fate.ok()) return report.error(fate.error().message);
        if (!fate->empty())
          report.error(fmt::format("{}, {}: {}", path.lexically_relative(copy).string(), damage.what, *fate));
        if (fate->find("did not come back") != std::string::npos && ++late == kMostLate)
          return report.note("nothing more was damaged: each try would take as long");
      }
      write_to(path, whole);
    }
  }
}

}  // namespace ulpscope
