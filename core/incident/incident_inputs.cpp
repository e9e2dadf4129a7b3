#include "incident/incident_inputs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

// A folder with more is told apart by its first entries.
constexpr size_t kMostEntries = 200'000;

void append_file(std::string& out, const std::string& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return;
  out += path + "\t" + std::to_string(status.st_size) + "\t" + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec) + "\n";
}

}  // namespace

Result<IncidentInputs> find_incident_inputs(const std::string& folder) {
  std::error_code failed;
  if (!fs::is_directory(folder, failed))
    return Error{Code::io, printable(folder) + ": no folder, expected that of an incident"};
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    names.push_back(at->path().filename().string());
  if (failed) return Error{Code::io, printable(folder) + ": " + failed.message()};
  std::sort(names.begin(), names.end());
  IncidentInputs found;
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    const bool is_folder = fs::is_directory(path, failed);
    const auto take = [&](const std::string& side, std::vector<std::string>& outputs,
                          std::vector<std::string>& repeats, std::vector<std::string>& scores,
                          std::string& bundle, std::string& ledger, std::string& dump) {
      if (name == side && is_folder) bundle = path;
      if (name == side + "_dump" && is_folder) dump = path;
      if (name == side + ".ledger.jsonl") ledger = path;
      if (name.starts_with(side + ".outputs")) outputs.push_back(path);
      if (name.starts_with(side + ".scores")) scores.push_back(path);
      const std::string run = side + ".run";
      if (name.starts_with(run) && name.size() > run.size() && name[run.size()] >= '2' &&
          name[run.size()] <= '9')
        repeats.push_back(path);
    };
    take("golden", found.golden_outputs, found.golden_repeats, found.golden_scores, found.golden_bundle,
         found.golden_ledger, found.golden_dump);
    take("problem", found.problem_outputs, found.problem_repeats, found.problem_scores, found.problem_bundle,
         found.problem_ledger, found.problem_dump);
  }
  return found;
}

std::string fingerprint(const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& path : paths) {
    append_file(all, path);
    std::error_code failed;
    if (!fs::is_directory(path, failed)) continue;
    std::vector<std::string> inside;
    for (fs::recursive_directory_iterator at(path, failed), end;
         !failed && at != end && inside.size() < kMostEntries; at.increment(failed))
      inside.push_back(at->path().string());
    std::sort(inside.begin(), inside.end());
    for (const std::string& each : inside) append_file(all, each);
  }
  return sha256_hex(all).substr(0, 16);
}

}  // namespace ulpscope
