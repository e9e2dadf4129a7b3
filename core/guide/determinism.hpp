// The shell block that makes runs repeat themselves, by device. Used by guide determinism.
#pragma once

#include <string>
#include <vector>

#include "guide/guide_texts.hpp"

namespace ulpscope {

struct DeterminismLine {
  std::string name, value;  // an environment variable
  BothLanguages why;
};

struct Determinism {
  std::vector<DeterminismLine> variables;
  std::vector<std::string> flags;  // of the launch
  std::vector<BothLanguages> notes;
};

// device: "npu" or "gpu".
Determinism determinism(const std::string& device, bool batch_invariant);

// Lines that a shell can read: exports, and the rest as comments.
std::string determinism_script(const Determinism& facts, GuideLanguage language);

}  // namespace ulpscope
