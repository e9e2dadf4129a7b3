// The sources that the host knows something about beyond their records.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ulpscope {

// The source of plain tensor files: each file is a tensor, and there are no operations to count.
constexpr std::string_view kPlainFiles = "tensor_files";

// Whether a source reads the dump.json family: its operations are calls of an API with their arguments.
inline bool has_api_calls(std::string_view source) {
  constexpr std::string_view kSources[] = {"torch_api", "vllm_v0", "vllm_v1"};
  return std::find(std::begin(kSources), std::end(kSources), source) != std::end(kSources);
}

}  // namespace ulpscope
