#include "guide/tree_version.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostNames = 100'000;  // of a site-packages folder
constexpr std::string_view kTags = "refs/tags/";

std::string content_of(const EngineTree& tree, const std::string& path) {
  TreeFile file = read_tree_file(tree, path);
  return file.problem == TreeFileProblem::none ? std::move(file.content) : std::string();
}

// As package indexes see a name: vllm-ascend is vllm_ascend.
std::string with_underscores(std::string_view name) {
  std::string out = to_lower(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

// The text in quotes of the first line that assigns __version__ or version.
std::optional<EngineVersion> version_in_source(std::string_view text) {
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with("__version__") && !line.starts_with("version")) continue;
    const size_t begin = line.find_first_of("'\"");
    if (begin == std::string_view::npos || line.find('=') > begin) continue;
    line.remove_prefix(begin + 1);
    auto version = parse_engine_version(line.substr(0, line.find_first_of("'\"")));
    if (version) return version;
  }
  return std::nullopt;
}

// "vllm-0.9.1" or "vllm-0.9.1.dist-info".
std::optional<EngineVersion> version_in_name(const std::string& name, const std::string& package) {
  const std::string given = with_underscores(name), begin = package + "_";
  if (!given.starts_with(begin)) return std::nullopt;
  return parse_engine_version(std::string_view(name).substr(begin.size()));
}

std::optional<EngineVersion> version_of_installation(const EngineTree& tree, const std::string& package) {
  std::error_code failed;
  size_t seen = 0;
  for (fs::directory_iterator at(tree.root, failed), end; !failed && at != end && seen < kMostNames;
       at.increment(failed), ++seen) {
    const std::string name = at->path().filename().string();
    if (!name.ends_with(".dist-info")) continue;
    if (auto version = version_in_name(name, package)) return version;
  }
  return std::nullopt;
}

// "Name: vllm" and "Version: 0.9.1" of the head of a PKG-INFO.
std::optional<EngineVersion> version_in_metadata(std::string_view text, const std::string& package) {
  std::string_view name, version;
  for (const std::string_view line : split(text, '\n')) {
    if (trimmed(line).empty()) break;
    if (line.starts_with("Name:")) name = trimmed(line.substr(5));
    if (line.starts_with("Version:")) version = trimmed(line.substr(8));
  }
  if (with_underscores(name) != package) return std::nullopt;
  return parse_engine_version(version);
}

// The commit that .git/HEAD names; empty when it cannot be told.
std::string commit_of_head(const EngineTree& tree, const std::vector<std::string_view>& packed) {
  std::string head(trimmed(content_of(tree, ".git/HEAD")));
  if (!head.starts_with("ref: ")) return head;
  const std::string name = head.substr(5);
  if (name.find("..") != std::string::npos) return {};
  std::string loose(trimmed(content_of(tree, ".git/" + name)));
  if (!loose.empty()) return loose;
  for (const std::string_view line : packed)
    if (line.ends_with(" " + name)) return std::string(line.substr(0, line.find(' ')));
  return {};
}

// The tag of a checkout that stands on one. "^COMMIT" follows a tag that is an object of its own.
std::optional<EngineVersion> version_of_checkout(const EngineTree& tree) {
  const std::string packed_text = content_of(tree, ".git/packed-refs");
  const std::vector<std::string_view> packed = split(packed_text, '\n');
  const std::string commit = commit_of_head(tree, packed);
  if (commit.empty()) return std::nullopt;
  std::string_view tag;
  for (const std::string_view line : packed) {
    const size_t name = line.find(kTags);
    if (!line.starts_with('^')) tag = name == std::string_view::npos ? "" : line.substr(name + kTags.size());
    if (tag.empty() || (!line.starts_with(commit) && !(line.starts_with('^') && line.substr(1) == commit)))
      continue;
    if (auto version = parse_engine_version(tag)) return version;
  }
  std::error_code failed;
  size_t seen = 0;
  for (fs::directory_iterator at(tree.root + "/.git/refs/tags", failed), end;
       !failed && at != end && seen < kMostNames; at.increment(failed), ++seen) {
    const std::string name = at->path().filename().string();
    if (trimmed(content_of(tree, ".git/" + std::string(kTags) + name)) != commit) continue;
    if (auto version = parse_engine_version(name)) return version;
  }
  return std::nullopt;
}

}  // namespace

std::optional<EngineVersion> version_in_tree(const EngineTree& tree, const std::string& package) {
  for (const char* file : {"/_version.py", "/version.py", "/_build_info.py"})
    if (auto version = version_in_source(content_of(tree, package + file))) return version;
  if (auto version = version_of_installation(tree, package)) return version;
  for (const std::string& file : {std::string("PKG-INFO"), package + ".egg-info/PKG-INFO"})
    if (auto version = version_in_metadata(content_of(tree, file), package)) return version;
  const bool alone = !(tree.has_vllm && tree.has_ascend);
  if (alone)
    if (auto version = version_of_checkout(tree)) return version;
  return version_in_name(fs::path(tree.root).filename().string(), package);
}

}  // namespace ulpscope
