// Runs one recorded call again in float64 and says how far the recorded outputs are from it, next to how far
// a run in the recorded precision is: the rounding that any device has. Used by the command replay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "execute/api_checker.hpp"
#include "execute/call_inputs.hpp"
#include "plugin/outputs.hpp"

namespace ulpscope {

// How far numbers are from the exact ones. Absent when no element is finite on both sides.
struct ReplayError {
  std::optional<double> max_abs, rel_l2;  // largest |a - g|; |a - g| / |g| of the whole tensor
  int64_t nonfinite = 0;                  // NaN and infinities that are not the same on both sides
  int64_t worst = -1;                     // element of the largest error
  double worst_value = 0, worst_exact = 0;
};

enum class ReplayVerdict { fine, off, unknown };
std::string_view to_text(ReplayVerdict verdict);  // "fine", "off", "unknown"

struct ReplayOutput {
  std::string name;  // "output.0"
  DType dtype = DType::none;
  Shape shape;
  ReplayError recorded, rounding;  // rounding: of a run here in the recorded precision
  bool has_rounding = false;
  ReplayVerdict verdict = ReplayVerdict::unknown;
  std::string message;
};

// One dump's side of a replay.
struct ReplaySide {
  std::string dump;
  CallInputs inputs;
  std::vector<OutputTensor> exact, recorded;  // in the order of the outputs
  std::vector<ReplayOutput> outputs;
  std::vector<std::string> notes;
  ReplayVerdict verdict() const;  // off if any output is, fine if all are
};

// exact and rounding run the call; rounding may be null. An error of the inputs or of exact; what is missing
// for one output stands in its message.
Result<ReplaySide> replay(const DumpIndex& index, const CheckItem& item, Phase phase,
                          const std::vector<ExecutorHandle*>& exact, ExecutorHandle* rounding,
                          const InputRules& rules);

// Errors of actual against exact, whose shapes must be equal.
ReplayError replay_error(const OutputTensor& actual, const OutputTensor& exact);

// "input.0" and the like of the inputs that differ between two sides in bits, type or shape.
std::vector<std::string> differing_inputs(const CallInputs& a, const CallInputs& b);

}  // namespace ulpscope
