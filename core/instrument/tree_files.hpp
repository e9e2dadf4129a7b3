// Writing into a tree that somebody else's program runs from: whole files at once, keeping mode and owner.
// Used by apply and revert.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "guide/engine_tree.hpp"

namespace ulpscope {

// One file to be: its text, or gone.
struct FileChange {
  std::string path;      // in the tree
  std::string expected;  // SHA-256 of what lies there now; empty: nothing
  std::string content;
  bool removes = false;
};

// Makes all changes or none: each file is written beside its place, synced and renamed; when one fails, those
// before it get their old content back. io; format with "changed": a file is not what was expected.
Status change_files(const EngineTree& tree, const std::vector<FileChange>& changes);

// SHA-256 of a file of the tree; empty when it is not there or not readable.
std::string hash_of_file(const EngineTree& tree, const std::string& path);

}  // namespace ulpscope
