// Versions of vLLM and vllm-ascend, ordered as Python orders them: 0.12.0rc1 < 0.12.0 < 0.12.0.post1. A
// development version (0.11.1.dev12) is ordered as the one it leads to. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ulpscope {

struct EngineVersion {
  std::vector<int64_t> release;  // 0, 9, 1
  int stage = 0;                 // -1: a candidate, 0: the release, 1: a post release
  int64_t number = 0;            // of the candidate or post release
  bool is_development = false;   // between two releases
  std::string text;              // as it was written

  // "0.9": the first two numbers.
  std::string minor() const;
};

// "0.9.1", "v0.12.0rc1", "0.6.3.post1+cu118"; nothing when it does not begin with two numbers.
std::optional<EngineVersion> parse_engine_version(std::string_view text);

bool operator<(const EngineVersion& a, const EngineVersion& b);

// Whether version is at most last; last "0.24" takes 0.24.7 too.
bool is_at_most(const EngineVersion& version, const EngineVersion& last);

}  // namespace ulpscope
