// Which forward pass of a step folder each entry belongs to, and whether a pass is a prefill or a decode.
// Used by the scan for vLLM dumps, whose step folders may hold one whole generate call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/framework_dump_entry.hpp"
#include "formats/framework_dump_key.hpp"
#include "formats/framework_dump_outline.hpp"
#include "formats/framework_dump_tree.hpp"

namespace ulpscope {

// Sets token and call of each entry: token counts from first_token, call from 0 within the token for each
// name. With modules the calls of the outermost one are the passes, and what follows belongs to the pass
// before it; without, each anchor of the outline starts one. Parents must be settled. A warning where the
// calls do not divide evenly among the anchors and all become one pass; empty otherwise.
std::string assign_tokens(DumpOutline& outline, std::span<const DumpKey> keys, const ConstructTree& construct,
                          const TextTable& key_table, int32_t first_token);

// The token count that an embedding's input shows: its elements; -1 for an entry that is no forward of an
// embedding.
int64_t embedded_tokens(const DumpKey& key, const EntryReader& entry);

}  // namespace ulpscope
