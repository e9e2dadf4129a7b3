// What the user asked instrument for. Plain data, checked by the command.
#pragma once

#include <string>

namespace ulpscope {

struct InstrumentOptions {
  std::string strategy = "worker";  // worker, guide
  std::string style = "inline";     // inline, wrap
  std::string window = "forward";   // forward, forward+sample
  std::string emit = "hook";        // hook, direct
  std::string level = "mix";        // L0, L1, mix
  std::string config;               // of the collector; empty: $ULPSCOPE_CONFIG, then the collector's own
  std::string ledger, gate;         // files; empty: none
  bool ledger_only = false, seed_all = false, allow_unknown_shape = false;
  std::string device = "auto", engine = "auto", model_runner = "auto";
  std::string vllm_version, ascend_version;  // where the tree does not say

  bool wants_begin_with_model() const { return level != "L1"; }
  bool is_wrap() const { return style == "wrap"; }
  bool is_direct() const { return emit == "direct"; }
};

// One JSON object; equal options give equal text.
std::string options_json(const InstrumentOptions& options);

}  // namespace ulpscope
