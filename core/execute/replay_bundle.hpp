// A folder with one call and what came out of it, for a bug report: tensors as .npy, the call as JSON, and a
// short Python script that runs it with torch. Used by replay --export.
#pragma once

#include <string>

#include "base/result.hpp"
#include "execute/replay.hpp"

namespace ulpscope {

// The call apart from its tensors.
struct ReplayCall {
  std::string type, api;   // "Functional", "linear"
  std::string attributes;  // the argument tree; empty: flat tensors
  Phase phase = Phase::forward;
};
ReplayCall replay_call(const DumpIndex& index, const CheckItem& item, Phase phase);

// Writes call.json, replay.py, and *.npy of inputs, recorded and float64 outputs. usage: the folder is there
// and not empty; io: it cannot be written.
Status write_replay_bundle(const std::string& folder, const std::string& name, const ReplayCall& call,
                           const ReplaySide& side);

}  // namespace ulpscope
