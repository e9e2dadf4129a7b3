#include "guide/engine_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "guide/tree_version.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{64} << 20;
constexpr size_t kMostNames = 10'000;  // looked at below a folder that is no tree
constexpr size_t kMostTold = 3;

// A package, and not a checkout of that name with the package inside.
bool is_package(const std::string& root, const std::string& name) {
  std::error_code failed;
  const fs::path folder = fs::path(root) / name;
  return fs::is_directory(folder, failed) &&
         (fs::exists(folder / "__init__.py", failed) || !fs::is_directory(folder / name, failed));
}

// "; found below it: a, b": the trees one folder down, for who named the folder of the checkouts.
std::string trees_below(const std::string& root) {
  std::error_code failed;
  std::vector<std::string> found;
  size_t seen = 0;
  for (fs::directory_iterator at(root, failed), end; !failed && at != end && seen < kMostNames;
       at.increment(failed), ++seen) {
    const std::string folder = at->path().string();
    if (is_package(folder, "vllm") || is_package(folder, "vllm_ascend")) found.push_back(folder);
  }
  std::sort(found.begin(), found.end());
  std::string text;
  for (size_t i = 0; i < std::min(found.size(), kMostTold); ++i)
    text += (i == 0 ? "; found below it: " : ", ") + printable(found[i]);
  return text;
}

// vllm-ascend has the first numbers of the vLLM that it belongs to.
std::optional<EngineVersion> version_beside(const std::optional<EngineVersion>& ascend) {
  if (!ascend) return std::nullopt;
  std::string text;
  for (const int64_t number : ascend->release) text += (text.empty() ? "" : ".") + std::to_string(number);
  return parse_engine_version(text);
}

}  // namespace

Result<EngineTree> read_engine_tree(const std::string& root) {
  std::error_code failed;
  EngineTree tree;
  tree.root = fs::canonical(root, failed).string();
  if (failed || !fs::is_directory(tree.root, failed))
    return Error{Code::io, printable(root) + ": no folder, expected one that holds vllm/"};
  tree.has_vllm = is_package(tree.root, "vllm");
  tree.has_ascend = is_package(tree.root, "vllm_ascend");
  if (!tree.has_vllm && !tree.has_ascend)
    return Error{Code::io, printable(root) +
                               ": holds neither vllm/ nor vllm_ascend/, expected the folder that vLLM is "
                               "installed in (site-packages, or a checkout)" +
                               trees_below(tree.root)};
  if (tree.has_ascend) tree.vllm_ascend = version_in_tree(tree, "vllm_ascend");
  tree.vllm = tree.has_vllm ? version_in_tree(tree, "vllm") : version_beside(tree.vllm_ascend);
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
