// The record of a run in the tree: where it lies and how it is written. For apply.cpp and manifest.cpp.
#pragma once

#include <string>
#include <string_view>

#include "instrument/apply.hpp"

namespace ulpscope {

inline constexpr std::string_view kManifestPath = ".ulpscope/manifest.json";

// Where the original of a file is kept.
std::string original_path(const std::string& path);

std::string manifest_json(const Manifest& manifest, const std::string& time);

}  // namespace ulpscope
