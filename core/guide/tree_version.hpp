// The version of a package in a tree, from the first of: the version files of the package, the metadata that
// an installation or a source archive leaves beside it, the tag that a checkout stands on, the name of the
// folder of an unpacked archive. Nothing of the tree is run. Used by engine_tree.
#pragma once

#include <optional>
#include <string>

#include "guide/engine_tree.hpp"

namespace ulpscope {

// package: vllm or vllm_ascend.
std::optional<EngineVersion> version_in_tree(const EngineTree& tree, const std::string& package);

}  // namespace ulpscope
