// What a YAML file that a user hands over may hold, checked event by event before its tree is built: the tree
// of yaml-cpp takes a hundred times the bytes of the text, and an alias stands for as many nodes as its
// author likes. Used by every reader of such a file; knows no schema.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace ulpscope {

struct YamlLimits {
  int64_t nodes = 200'000;  // about 100 MB of tree
  int64_t depth = 32;       // containers inside each other
};

// usage, with file, line and column: an alias, or more nodes or depth than the limits. A text that is no YAML
// passes: the reader's own parse names what is wrong with it. Any thread.
Status check_yaml(const std::string& path, const std::string& text, const YamlLimits& limits = {});

}  // namespace ulpscope
