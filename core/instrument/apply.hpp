// Carries out a plan in a tree and takes it back: backup, atomic writes, manifest. Everything is checked
// before the first file is written; what was written is put back when a later file fails. Used by the
// command.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "guide/engine_tree.hpp"
#include "instrument/plan.hpp"

namespace ulpscope {

// <tree>/.ulpscope/manifest.json, what was done to a tree.
struct Manifest {
  struct File {
    std::string path, before, after;  // SHA-256; before is empty for a file that was made
    std::vector<std::string> parts;
  };
  std::string tool, options, vllm;
  std::vector<File> files;
};

// Nothing when the tree has none. format: it is damaged, or names a file outside the tree.
Result<std::optional<Manifest>> read_manifest(const EngineTree& tree);

enum class TreeState : uint8_t { clean, applied, foreign, broken };
std::string_view to_text(TreeState state);

struct TreeReport {
  TreeState state = TreeState::clean;
  std::vector<std::string> lines;  // file and what is in it
  std::optional<Manifest> manifest;
};
// What a tree is in. Looks at every file that the table or the manifest names.
Result<TreeReport> inspect_tree(const EngineTree& tree, const AnchorTable& table);

// The file as it was before the manifest's run; nothing when it is not one of those, or was edited since.
std::optional<std::string> original_of(const EngineTree& tree, const Manifest& manifest,
                                       const std::string& path);

// E_TAKEN where a file that the plan makes is there already and is not one that the manifest says was made;
// such a file would be lost. Nothing: the way is free.
std::optional<Refusal> refuse_taken(const EngineTree& tree, const InstrumentPlan& plan,
                                    const std::optional<Manifest>& manifest);

// Writes the plan; files of an earlier run that it does not touch get their original back. A refusal
// (E_CHANGED, E_PERM) leaves the tree as it was.
Result<std::optional<Refusal>> apply_plan(const EngineTree& tree, const InstrumentPlan& plan,
                                          const InstrumentOptions& options,
                                          const std::optional<Manifest>& earlier,
                                          const std::string& tool_version);

// Puts everything back. force: takes complete blocks out of a tree without manifest too. Answers the files.
struct RevertResult {
  std::optional<Refusal> refusal;
  std::vector<std::string> files;
};
Result<RevertResult> revert_tree(const EngineTree& tree, const AnchorTable& table, bool force);

}  // namespace ulpscope
