// What a dump is, in a few facts: for the head of list. Pure, but for the count of what is recorded.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "index/dump_index.hpp"

namespace ulpscope {

struct Overview {
  std::string path, source, task, level;
  std::string why;  // what the source goes by; filled by the caller, who can ask it
  std::vector<int32_t> steps, ranks;
  int64_t ops = 0, tensors = 0, values = 0;
  int64_t tensors_with_data = 0;
  int64_t tensors_with_digest = 0;
  uint64_t recorded_bytes = 0;  // of the tensors whose bytes the dump holds, by shape and dtype
  std::map<std::string, int64_t, std::less<>> dtypes;
  // Facts of the engine that wrote it, each a line: "step 0: 2 tokens", "step 1: decode".
  std::vector<std::string> engine;
};

Overview overview(const DumpIndex& index);

// "0-3,7": sorted numbers with runs joined; "-" when empty.
std::string number_list_text(const std::vector<int32_t>& numbers);

// The overview as lines of text, each ended.
std::string overview_text(const Overview& facts);

}  // namespace ulpscope
