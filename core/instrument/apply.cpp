#include "instrument/apply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <set>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "instrument/hook_py.hpp"
#include "instrument/manifest.hpp"
#include "instrument/tree_files.hpp"

namespace ulpscope {
namespace {

std::string utc_time() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::set<std::string> files_of(const AnchorTable& table, const std::optional<Manifest>& manifest) {
  std::set<std::string> paths;
  for (const Anchor& anchor : table.anchors) paths.insert(anchor.file);
  if (manifest)
    for (const Manifest::File& file : manifest->files) paths.insert(file.path);
  return paths;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

bool has_own_collector(const EngineTree& tree, const AnchorTable& table, const std::string& path) {
  return path.starts_with("vllm_ascend/") && tree.vllm_ascend &&
         table.switch_at(*tree.vllm_ascend) != nullptr;
}

void inspect_file(const EngineTree& tree, const AnchorTable& table, const std::string& path,
                  TreeReport& report) {
  const Manifest::File* recorded = nullptr;
  if (report.manifest)
    for (const Manifest::File& file : report.manifest->files)
      if (file.path == path) recorded = &file;
  const auto find = [&](TreeState state, const std::string& text) {
    report.state = std::max(report.state, state);
    report.lines.push_back(path + ": " + text);
  };
  const TreeFile file = read_tree_file(tree, path);
  if (file.problem == TreeFileProblem::missing) {
    if (recorded != nullptr) find(TreeState::broken, "gone since it was changed");
    return;
  }
  // What cannot be read and was never changed is for the plan to refuse.
  if (file.problem != TreeFileProblem::none)
    return find(recorded != nullptr ? TreeState::broken : TreeState::clean, file.message);
  if (recorded != nullptr && recorded->before.empty()) {
    if (sha256_hex(file.content) == recorded->after) return find(TreeState::applied, "made by ulpscope");
    return find(TreeState::broken, "edited since it was made");
  }
  const FoundBlocks blocks = take_out_blocks(file.content);
  if (blocks.broken) return find(TreeState::broken, "a block of ulpscope is not whole");
  if (recorded != nullptr && sha256_hex(file.content) != recorded->after)
    return find(TreeState::broken, "edited since it was changed");
  if (recorded == nullptr && report.manifest && !blocks.parts.empty())
    return find(TreeState::broken, "holds blocks that the manifest does not name");
  if (!has_own_collector(tree, table, path) && has_foreign_collector(blocks.without))
    return find(TreeState::foreign, "calls a collector that is not ours");
  if (!blocks.parts.empty()) find(TreeState::applied, joined(blocks.parts));
}

// A module that this program wrote, by its first line; a file of that name may be the user's own.
bool is_own_hook(const TreeFile& file) {
  const std::string_view text(kHookPy);
  return file.problem == TreeFileProblem::none && file.content.starts_with(text.substr(0, text.find('\n')));
}

// What Python keeps of the module that is gone.
void remove_compiled_hook(const EngineTree& tree) {
  const std::string hook = hook_path(tree);
  std::error_code failed;
  const std::string folder = tree.root + "/" + hook.substr(0, hook.rfind('/')) + "/__pycache__";
  std::vector<std::filesystem::path> compiled;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed))
    if (at->path().filename().string().starts_with("ulpscope_hook.")) compiled.push_back(at->path());
  for (const std::filesystem::path& path : compiled) std::filesystem::remove(path, failed);
}

}  // namespace

std::string_view to_text(TreeState state) {
  constexpr std::array<std::string_view, 4> kWords = {"clean", "applied", "foreign", "broken"};
  return kWords[static_cast<size_t>(state)];
}

Result<TreeReport> inspect_tree(const EngineTree& tree, const AnchorTable& table) {
  TreeReport report;
  ULPSCOPE_ASSIGN(report.manifest, read_manifest(tree));
  for (const std::string& path : files_of(table, report.manifest)) inspect_file(tree, table, path, report);
  return report;
}

std::optional<std::string> original_of(const EngineTree& tree, const Manifest& manifest,
                                       const std::string& path) {
  for (const Manifest::File& file : manifest.files) {
    if (file.path != path || file.before.empty()) continue;
    const TreeFile now = read_tree_file(tree, path);
    if (now.problem != TreeFileProblem::none) return std::nullopt;
    const TreeFile kept = read_tree_file(tree, original_path(path));
    if (sha256_hex(now.content) == file.after && kept.problem == TreeFileProblem::none &&
        sha256_hex(kept.content) == file.before)
      return kept.content;
    FoundBlocks blocks = take_out_blocks(now.content);
    if (!blocks.broken && sha256_hex(blocks.without) == file.before) return std::move(blocks.without);
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_taken(const EngineTree& tree, const InstrumentPlan& plan,
                                    const std::optional<Manifest>& manifest) {
  const auto was_made = [&](const std::string& path) {
    return manifest && std::any_of(manifest->files.begin(), manifest->files.end(), [&](const auto& file) {
             return file.path == path && file.before.empty();
           });
  };
  for (const PlannedFile& file : plan.files) {
    if (!file.is_new || was_made(file.path)) continue;
    if (read_tree_file(tree, file.path).problem != TreeFileProblem::missing)
      return Refusal{"E_TAKEN", tree.root + "/" + file.path +
                                    ": is there already and was not made by ulpscope, expected no such "
                                    "file; move it away"};
  }
  return std::nullopt;
}

Result<std::optional<Refusal>> apply_plan(const EngineTree& tree, const InstrumentPlan& plan,
                                          const InstrumentOptions& options,
                                          const std::optional<Manifest>& earlier,
                                          const std::string& tool_version) {
  Manifest manifest{tool_version, options_json(options), tree.vllm ? tree.vllm->text : "", {}};
  std::vector<FileChange> originals, changes;
  std::set<std::string> planned;
  for (const PlannedFile& file : plan.files) {
    planned.insert(file.path);
    Manifest::File entry{
        file.path, file.is_new ? "" : sha256_hex(file.original), sha256_hex(file.changed), {}};
    for (const Insertion& insertion : file.insertions) entry.parts.push_back(insertion.part);
    manifest.files.push_back(std::move(entry));
    const std::string now = hash_of_file(tree, file.path);
    if (!file.is_new)
      originals.push_back(
          {original_path(file.path), hash_of_file(tree, original_path(file.path)), file.original, false});
    changes.push_back({file.path, now, file.changed, false});
  }
  if (earlier)
    for (const Manifest::File& file : earlier->files) {
      if (planned.count(file.path) > 0) continue;
      const auto original = original_of(tree, *earlier, file.path);
      if (!original && !file.before.empty())
        return std::optional(Refusal{"E_CHANGED", tree.root + "/" + file.path +
                                                      ": edited since the last run, expected "
                                                      "it unchanged; put it back by hand"});
      changes.push_back(
          {file.path, hash_of_file(tree, file.path), original.value_or(""), file.before.empty()});
    }
  const std::string path(kManifestPath);
  originals.push_back({path, hash_of_file(tree, path), manifest_json(manifest, utc_time()), false});
  // The record first: whatever happens then, it says what the originals were.
  originals.insert(originals.end(), changes.begin(), changes.end());
  const Status status = change_files(tree, originals);
  if (!status.ok())
    return std::optional(
        Refusal{status.error().code == Code::format ? "E_CHANGED" : "E_PERM", status.error().message});
  return std::optional<Refusal>();
}

Result<RevertResult> revert_tree(const EngineTree& tree, const AnchorTable& table, bool force) {
  RevertResult result;
  ULPSCOPE_ASSIGN(const std::optional<Manifest> manifest, read_manifest(tree));
  std::vector<FileChange> changes;
  const auto refuse = [&](const std::string& message) {
    result.refusal = Refusal{"E_CHANGED", message};
    return result;
  };
  if (manifest) {
    for (const Manifest::File& file : manifest->files) {
      const std::string now = hash_of_file(tree, file.path);
      const auto original = original_of(tree, *manifest, file.path);
      const bool made = file.before.empty();
      if (now == file.before) continue;  // an interrupted run did not come so far
      if (made ? now != file.after && !force : !original.has_value())
        return refuse(tree.root + "/" + file.path +
                      ": edited after --apply, and without our blocks it is not the "
                      "recorded original; put it back by hand");
      changes.push_back({file.path, now, original.value_or(""), made});
      result.files.push_back(file.path);
    }
  } else {
    for (const std::string& path : files_of(table, manifest)) {
      const TreeFile file = read_tree_file(tree, path);
      if (file.problem != TreeFileProblem::none) continue;
      FoundBlocks blocks = take_out_blocks(file.content);
      if (blocks.parts.empty() && !blocks.broken) continue;
      if (!force || blocks.broken)
        return refuse(file.path + (blocks.broken
                                       ? ": a block of ulpscope is not whole, expected it as it was written"
                                       : ": holds blocks of ulpscope, but the tree has no manifest; --force "
                                         "takes them out"));
      changes.push_back({path, sha256_hex(file.content), blocks.without, false});
      result.files.push_back(path);
    }
    const std::string hook = hook_path(tree);
    if (const TreeFile made = read_tree_file(tree, hook); !changes.empty() && is_own_hook(made))
      changes.push_back({hook, sha256_hex(made.content), "", true});
  }
  const Status status = change_files(tree, changes);
  if (!status.ok()) {
    result.refusal =
        Refusal{status.error().code == Code::format ? "E_CHANGED" : "E_PERM", status.error().message};
    return result;
  }
  std::error_code ignored;
  if (hash_of_file(tree, hook_path(tree)).empty()) remove_compiled_hook(tree);
  if (manifest) std::filesystem::remove_all(tree.root + "/.ulpscope", ignored);
  return result;
}

}  // namespace ulpscope
