// Holds the steps of a dump against the step ledger of the same side: the collector and the ledger count by
// themselves, and a step of one is not always the step of that number of the other. For incident_flow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "guide/guide_texts.hpp"

namespace ulpscope {

struct DumpSteps {
  BothLanguages text;  // which step of the dump is which of the ledger, or how they disagree; may be empty
  bool disagrees = false;  // in numbers or in tokens
  int64_t count = 0;       // steps of the dump; 0: it has no folders of steps
  // The folder in the dump of the step that was asked for, where the dump has it, be it under another number
  // by its tokens: "step14".
  std::string folder;
};

// side: "golden" or "problem", for the text. dump: a folder with step* inside. ledger: its path, wanted: the
// step in it that makes the token; empty or nothing: not known. Reads the first mebibytes of each dump.json;
// what cannot be read is left out, for the commands that need it to tell.
DumpSteps check_dump_steps(const std::string& side, const std::string& dump, const std::string& ledger,
                           std::optional<int64_t> wanted);

}  // namespace ulpscope
