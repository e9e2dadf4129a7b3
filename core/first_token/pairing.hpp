// Which output of the problem run belongs to which of the golden run: by id, by prompt, or by order. Used by
// first-token-diff, anomaly and badcase. Compares no outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "outputs/output_set.hpp"

namespace ulpscope {

enum class PairBy { automatic, id, prompt, order };

enum class PairingKind { custom_id, id, key, prompt_token_ids, prompt, order };
std::string_view to_text(PairingKind kind);

// Indexes of entries.
struct OutputPair {
  size_t golden = 0, problem = 0;
};

struct OutputPairing {
  PairingKind kind = PairingKind::order;
  std::vector<OutputPair> pairs;  // in the order of the golden side
  std::vector<size_t> only_golden, only_problem;
};

// automatic: by an id that every output has, that is unique on each side and met on both; else by prompt
// token ids, else by the prompt's text, where every output has one; else by order. Choices pair by index, and
// what is met several times n-th with n-th. usage: paired by id or prompt, and the outputs have none. Pure.
Result<OutputPairing> pair_outputs(const OutputSet& golden, const OutputSet& problem, PairBy by);

}  // namespace ulpscope
