#include "guide/engine_tree.hpp"

#include <filesystem>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{64} << 20;
constexpr size_t kMostNames = 100'000;  // of a site-packages folder

// The text in quotes of the first line that assigns __version__ or version.
std::optional<EngineVersion> version_in(std::string_view text) {
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

// "vllm-0.9.1.dist-info" beside the package.
std::optional<EngineVersion> version_of_metadata(const std::string& root, const std::string& package) {
  std::error_code failed;
  size_t seen = 0;
  for (fs::directory_iterator at(root, failed), end; !failed && at != end && seen < kMostNames;
       at.increment(failed), ++seen) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(package + "-") || !name.ends_with(".dist-info")) continue;
    auto version = parse_engine_version(
        std::string_view(name).substr(package.size() + 1, name.size() - package.size() - 11));
    if (version) return version;
  }
  return std::nullopt;
}

std::optional<EngineVersion> version_of(const EngineTree& tree, const std::string& package) {
  for (const char* file : {"/_version.py", "/version.py", "/_build_info.py"}) {
    const TreeFile source = read_tree_file(tree, package + file);
    if (source.problem != TreeFileProblem::none) continue;
    if (auto version = version_in(source.content)) return version;
  }
  return version_of_metadata(tree.root, package);
}

}  // namespace

Result<EngineTree> read_engine_tree(const std::string& root) {
  std::error_code failed;
  EngineTree tree;
  tree.root = fs::canonical(root, failed).string();
  if (failed || !fs::is_directory(tree.root, failed))
    return Error{Code::io, printable(root) + ": no folder, expected one that holds vllm/"};
  tree.has_vllm = fs::is_directory(tree.root + "/vllm", failed);
  tree.has_ascend = fs::is_directory(tree.root + "/vllm_ascend", failed);
  if (!tree.has_vllm && !tree.has_ascend)
    return Error{Code::io, printable(root) +
                               ": holds neither vllm/ nor vllm_ascend/, expected the folder that vLLM is "
                               "installed in (site-packages, or a checkout)"};
  if (tree.has_vllm) tree.vllm = version_of(tree, "vllm");
  if (tree.has_ascend) tree.vllm_ascend = version_of(tree, "vllm_ascend");
  return tree;
}

TreeFile read_tree_file(const EngineTree& tree, const std::string& relative) {
  TreeFile found;
  found.path = tree.root + "/" + relative;
  std::error_code failed;
  const fs::file_status status = fs::symlink_status(found.path, failed);
  if (status.type() == fs::file_type::not_found || failed) {
    found.message = found.path + ": no such file";
    // A folder on the way may be a link in a circle.
    if (failed == std::errc::too_many_symbolic_link_levels) found.problem = TreeFileProblem::outside;
    return found;
  }
  const std::string real = fs::canonical(found.path, failed).string();
  if (failed || !real.starts_with(tree.root + "/")) {
    found.problem = TreeFileProblem::outside;
    found.message = found.path + ": a link that leads out of the tree, expected a file inside";
    return found;
  }
  auto file = File::open(real);
  auto text = file.ok() ? file->read_text(kMostBytes) : Result<std::string>(std::move(file).error());
  if (!text.ok()) {
    found.problem = TreeFileProblem::unreadable;
    found.message = text.error().message;
    return found;
  }
  found.problem = TreeFileProblem::none;
  found.path = real;
  found.content = std::move(text).value();
  return found;
}

}  // namespace ulpscope
