// Two builds of one model held against each other, operator by operator: which outputs differ, and whether
// the operator's inputs were good. Used by the flow; measures with the pipeline of compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "formats/fusion_graph.hpp"
#include "index/dump_index.hpp"

namespace ulpscope {

// A build that was run: its dump, and its compiled model where that is known.
struct StageDump {
  std::string name;
  DumpIndex index;
  std::optional<FusionGraph> graph;
};

struct ComparedOutput {
  int32_t output = 0;
  std::string key;  // in the original model: "prob/Softmax:0"
  bool compared = false, differs = false, nonfinite = false;
  std::optional<double> cosine, rel_l2;
  DType dtype = DType::none;  // of mine
  double largest = 0;         // magnitude in mine
};

enum class InputState : uint8_t { good, bad, unknown };
std::string_view to_text(InputState state);

struct ComparedOp {
  std::string name, type;
  std::vector<std::string> originals;
  std::vector<ComparedOutput> outputs;
  InputState inputs = InputState::unknown;

  // The first output that differs; null: none does.
  const ComparedOutput* difference() const;
};

struct StageComparison {
  std::vector<ComparedOp> ops;  // of mine, in order of execution
  int64_t compared = 0, unpaired = 0, unreadable = 0;
  bool all_equal = true;  // every compared element has the same value
};

struct CompareRules {
  double op_limit = 0.95;
};

// io: nothing could be compared. Cancelled as the measuring.
Result<StageComparison> compare_stages(const StageDump& mine, const DumpIndex& reference,
                                       const CompareRules& rules, ThreadPool& pool, const Cancel& cancel,
                                       Diagnostics& diagnostics);

// What the model was fed with, in two dumps or a dump and a golden folder.
struct ComparedInput {
  std::string name;
  bool compared = false, equal = false;
  std::optional<double> cosine, max_abs_err;
  std::string problem;  // shapes that differ
};
// The dumped input of the first operator that reads each network input of mine. Empty without a compiled
// model.
Result<std::vector<ComparedInput>> compare_inputs(const StageDump& mine, const StageDump* other,
                                                  const DumpIndex& reference, ThreadPool& pool,
                                                  const Cancel& cancel, Diagnostics& diagnostics);

}  // namespace ulpscope
