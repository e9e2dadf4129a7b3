// The folders of an offline-model dump: {time}/{device}/{model}/{model_id}/{data_index}, or any part of that
// path. Finds the leaves below a path, what their folders say of step and device, and the compiled model's
// json that belongs to them. Used by the source of offline-model dumps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

struct AclLeaf {
  std::string folder;            // relative to the root; empty: the root itself
  int32_t step = -1, rank = -1;  // data_index and device; -1: the tree has none
  std::string run;               // time, model and model id as far as known: leaves of one run have the same
};

struct AclTree {
  std::string root;             // the path itself, or the folder of a single file
  std::string file;             // when the path is a single file: its name
  std::vector<AclLeaf> leaves;  // sorted by run, step, rank
  // Folders below the root that may hold more of the dump and are not read, and why.
  std::vector<std::pair<std::string, std::string>> unread;
  bool has_others = false;  // files below the root that are none of such a dump
};

// The json of a compiled model that was looked for.
struct FusionFile {
  std::string path;  // empty: none
  // Without one: json files that could not be opened and may be it, with the reason.
  std::vector<std::string> unreadable;
};

// Leaves are folders that hold a dump file (acl_names.hpp). io: no such path; format: no leaf in it.
Result<AclTree> find_acl_tree(const std::string& path);

// The json of a compiled model for a leaf: going up from it to the folder that holds the time folder, the
// nearest folder with a .json file whose top level has "graph". usage: that folder has several.
Result<FusionFile> find_fusion_json(const AclTree& tree, const AclLeaf& leaf);

}  // namespace ulpscope
