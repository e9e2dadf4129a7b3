// Who encloses whom (construct.json) and from where calls were made (stack.json). Both files are optional
// companions of a dump.json: what is wrong with them costs parents or stacks, never records. Used by the scan
// of framework dumps only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/framework_dump_key.hpp"
#include "formats/json_lexer.hpp"

namespace ulpscope {

// The tree of construct.json over the ids of a key table.
class ConstructTree {
 public:
  static constexpr uint32_t kNone = TextTable::kNone;

  // Reads {key: parent | null | [parent, micro step]}. format: not of this form; the tree is empty then.
  Status read(JsonLexer& lexer, TextTable& keys);

  bool empty() const { return order_.empty(); }
  // The keys in the order of the file.
  std::span<const uint32_t> keys() const { return order_; }
  // The nearest ancestor of the key for which wanted[id] is set; kNone when there is none. Call settle first.
  uint32_t nearest(uint32_t key) const { return key < nearest_.size() ? nearest_[key] : kNone; }
  // The outermost ancestor of the key, which may be the key itself; the key where the tree does not know it.
  uint32_t top(uint32_t key) const { return key < top_.size() && top_[key] != kNone ? top_[key] : key; }
  // Finds nearest and top of each key; wanted is indexed by key id. The number of keys whose ancestors form a
  // cycle or end at a name that is neither a key of the tree nor wanted; these have no parent.
  int64_t settle(const std::vector<bool>& wanted);

 private:
  std::vector<uint32_t> order_;
  std::vector<uint32_t> parents_;  // by id; kNone: top or unknown
  std::vector<bool> known_;        // by id: is a key of the file
  std::vector<uint32_t> nearest_, top_;
};

// The call stacks of stack.json by key id: one frame a line.
class StackTable {
 public:
  // Reads the grouped form {"0": [[keys], [frames]]} and the plain form {key: [frames]}; only keys that the
  // table knows are kept, malformed entries are skipped. format: not JSON, or not an object; the table is
  // empty then.
  Status read(JsonLexer& lexer, const TextTable& keys);
  // Empty when the file has none for the key.
  std::string_view stack(uint32_t key) const;

 private:
  TextTable texts_;
  std::vector<uint32_t> by_key_;  // id in texts_; kNone: none
};

// Parents for a dump without construct.json, guessed from where entries stand: a module is recorded where it
// returns. A module lies in the nearest later module whose path is a prefix of its own, anything else in the
// nearest later module of its phase. Answers indexes of entries; kNone where nothing fits.
std::vector<uint32_t> guess_parents(std::span<const DumpKey> entries);

}  // namespace ulpscope
