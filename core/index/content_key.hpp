// What a tensor holds, in a key short enough to keep for every item: equal keys of one run mean equal
// content. Pure; opens no data.
#pragma once

#include <cstdint>

#include "index/dump_index.hpp"

namespace ulpscope {

// A zero key says nothing and equals nothing.
struct ContentKey {
  uint64_t low = 0, high = 0;
  bool known() const { return (low | high) != 0; }
  // For tables of keys.
  uint64_t folded() const { return low ^ high; }
  friend bool operator==(const ContentKey&, const ContentKey&) = default;
};

// A key of what a record says of a tensor: its digest, or all of its statistics; zero where neither is known.
// Shapes count by their element count: a view has its original's content.
ContentKey recorded_key(const DumpIndex& index, TensorId tensor);

}  // namespace ulpscope
