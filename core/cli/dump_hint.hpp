// What the user probably meant where a path is near a dump and not one: a folder above it, or the data files
// inside it. Looks at names of few entries, follows no link. Used where a command opens a dump.
#pragma once

#include <string>

#include "plugin/registry.hpp"

namespace ulpscope {

// A line to put behind an error: "\n  did you mean out/target or out/golden?" where folders directly below
// path are dumps; empty where none is.
std::string hint_below(Registry& registry, const std::string& path);

// A warning where path is the folder of data files of a dump.json that stands beside it; empty elsewhere.
std::string hint_above(const std::string& path);

}  // namespace ulpscope
