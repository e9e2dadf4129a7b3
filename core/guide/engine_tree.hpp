// An installed or checked-out vLLM, vllm-ascend or both: their versions, and their files read so that none
// outside the tree is. Used by guide and instrument; changes nothing.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "guide/engine_version.hpp"

namespace ulpscope {

struct EngineTree {
  std::string root;  // without links
  // Without vllm/ in it, vllm is what the version of vllm-ascend says.
  std::optional<EngineVersion> vllm, vllm_ascend;
  bool has_vllm = false, has_ascend = false;  // whether the folder is there
};

// io: no folder, or one that holds neither vllm/ nor vllm_ascend/; the message names those that do below it.
Result<EngineTree> read_engine_tree(const std::string& root);

// Why a file of the tree cannot be used. none: it can.
enum class TreeFileProblem : uint8_t { none, missing, outside, unreadable };

struct TreeFile {
  TreeFileProblem problem = TreeFileProblem::missing;
  std::string path;     // in full
  std::string content;  // empty unless problem is none
  std::string message;  // of a problem
};

// outside: a link that leads out of the tree, or in a circle. Files above 64 MiB are unreadable.
TreeFile read_tree_file(const EngineTree& tree, const std::string& relative);

}  // namespace ulpscope
