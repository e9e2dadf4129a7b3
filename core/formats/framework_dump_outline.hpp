// The pass over a dump.json: its header, its keys in order, and whether it is whole. Nothing is emitted
// before this pass has succeeded, so that a file that breaks in its middle leaves no half of a dump behind.
// Used by the scan of framework dumps only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/framework_dump_entry.hpp"
#include "formats/framework_dump_key.hpp"
#include "formats/json_lexer.hpp"

namespace ulpscope {

// An entry of `data`; parents are indexes of entries.
struct OutlineEntry {
  uint32_t key = 0;  // id in the key table
  uint32_t call = 0;
  uint32_t parent = TextTable::kNone;
  int32_t token = -1;
  bool repeated = false;  // the key stood there before; call is then the next free number
  bool anchor = false;    // a call like the first one of the file
};

struct DumpOutline {
  std::string task, level;
  std::vector<OutlineEntry> entries;
  std::optional<Error> broken;  // the file ends or breaks behind the last entry
};

// Tells which entries are like the first one: same name, same arguments that are no tensors, same shapes but
// for the first dimension, which is the number of tokens. A forward pass repeats such a call at its start.
class AnchorFinder {
 public:
  // entry: as it has just been read.
  bool is_anchor(const DumpKey& key, const EntryReader& entry);

 private:
  std::string first_name_, first_signature_;
};

// Reads the value of an entry of that name from the lexer, and may mark the entry. False when the text is
// broken.
using EntryVisitor = std::function<bool(std::string_view, OutlineEntry&)>;

// Reads the outline, and has each entry read. format, with the byte: not JSON, no object, `data` missing or
// no object. A file that breaks inside `data` is an answer with broken set.
Result<DumpOutline> read_outline(JsonLexer& lexer, TextTable& keys, const EntryVisitor& read_entry);

// Gives each entry its call number: that of its key, or the next free one where the key stood there before.
void number_calls(DumpOutline& outline, const std::vector<DumpKey>& keys);

}  // namespace ulpscope
