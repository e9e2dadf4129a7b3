// The blocks that instrument puts into a source file, between two comment lines that carry the word ulpscope,
// the part and a hash of the block; putting them in, finding them, taking them out. Pure.
//
//     # >>> ulpscope V1-X.begin 0123456789ab
//     ...
//     # <<< ulpscope V1-X.begin 0123456789ab
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ulpscope {

struct Insertion {
  size_t line = 0;  // physical line that the block goes before, from 0
  size_t indent = 0;
  std::string part;                // "V1-X.begin"
  std::vector<std::string> lines;  // without indentation
};

// The block with its comment lines, each line ended by end_of_line.
std::string block_text(const Insertion& insertion, std::string_view end_of_line);

// text with all blocks in. Several before one line keep their order.
std::string with_blocks(std::string_view text, std::vector<Insertion> insertions);

struct FoundBlocks {
  std::string without;             // the text as it is when they are taken out
  std::vector<std::string> parts;  // of complete blocks
  bool broken = false;             // a block without its end, an end without its block, or an edited one
};
FoundBlocks take_out_blocks(std::string_view text);

// Unified diff of one file that only gained blocks; an empty original is a new file.
std::string unified_diff(const std::string& path, std::string_view original, std::string_view changed);

}  // namespace ulpscope
