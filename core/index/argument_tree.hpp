// Reads the argument tree of an op (attributes_json of the framework family) into items in call order:
// tensors by their number, other arguments by type and value. Used by the index only.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

struct ArgumentItem {
  Role role = Role::input;
  std::string path;
  int64_t tensor = -1;  // number of the op's tensor record; -1: a value
  std::string type, value;
};

// Whether text is an argument tree: an object whose members are all of "input", "kwarg", "output",
// "parameter". Empty containers give no item; null gives one of type "None". format: not JSON, or nested
// deeper than 64. A well-formed object of another source gives an empty list and is_tree = false.
struct ArgumentTree {
  bool is_tree = false;
  std::vector<ArgumentItem> items;
};
Result<ArgumentTree> read_argument_tree(std::string_view text);

// text with each 0x… address replaced by 0x*, so that two runs of one program agree.
std::string blank_addresses(std::string_view text);

}  // namespace ulpscope
