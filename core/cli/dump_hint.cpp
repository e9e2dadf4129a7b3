#include "cli/dump_hint.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/text.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostEntries = 1000;  // looked at; a folder above dumps has few
constexpr size_t kMostProbed = 8;      // a probe opens files
constexpr size_t kMostNamed = 3;

std::vector<std::string> folders_below(const std::string& path) {
  std::vector<std::string> folders;
  std::error_code failed;
  fs::directory_iterator entry(path, failed);
  for (size_t seen = 0; !failed && entry != fs::directory_iterator() && seen < kMostEntries; ++seen) {
    std::error_code ignored;
    const bool is_folder = !entry->is_symlink(ignored) && entry->is_directory(ignored);
    if (is_folder && !entry->path().filename().string().starts_with('.'))
      folders.push_back(entry->path().string());
    entry.increment(failed);
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

std::string hint_below(Registry& registry, const std::string& path) {
  std::string text;
  size_t probed = 0, named = 0;
  for (const std::string& folder : folders_below(path)) {
    if (++probed > kMostProbed || named == kMostNamed) break;
    if (!registry.open_source("auto", folder, "{}").ok()) continue;
    text += (named++ == 0 ? "" : " or ") + printable(folder);
  }
  return text.empty() ? "" : "\n  did you mean " + text + "?";
}

std::string hint_above(const std::string& path) {
  std::error_code failed;
  fs::path folder = fs::absolute(path, failed).lexically_normal();
  if (!failed && folder.filename().empty()) folder = folder.parent_path();
  if (failed || folder.filename() != "dump_tensor_data") return {};
  if (!fs::is_regular_file(folder.parent_path() / "dump.json", failed)) return {};
  return printable(path) + ": only the data files of a dump, without order, arguments and statistics: name " +
         printable((fs::path(path) / ".." / "dump.json").lexically_normal().string()) +
         " to read them with it";
}

}  // namespace ulpscope
