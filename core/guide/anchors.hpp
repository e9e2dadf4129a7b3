// The places in vLLM and vllm-ascend where collection is switched on, as data: anchors.yaml, which explains
// its form. Used by guide, which prints them, and by instrument, which patches them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "guide/engine_version.hpp"

namespace ulpscope {

struct Anchor {
  std::string id, project, engine, runner, file, class_name, method;
  EngineVersion first;
  std::optional<EngineVersion> last, before;  // at most, or before
  std::string argument;                       // the parameter that says what the step does
  std::string starts_with;                    // what the first statement assigns; empty: anything
  std::vector<std::string> call;              // what the statement in the method holds that is to be enclosed
  std::string called, owner;  // the method that this statement calls; what the step belongs to
  bool optional = false;      // not every tree of these versions has it
  struct Counts {
    EngineVersion from;
    std::vector<int64_t> counts;
  };
  std::vector<Counts> counts;

  bool knows(const EngineVersion& version) const;
  // The numbers of returns that are known at that version, for a development version those of the releases
  // around it too; empty: any.
  std::vector<int64_t> returns_at(const EngineVersion& version) const;
};

struct AscendSwitch {
  EngineVersion from;
  std::string text;
  bool graphs = false;  // has a collector for graphs
};

struct AnchorTable {
  struct Known {
    EngineVersion first, last;
  };
  Known vllm, vllm_ascend;
  std::vector<Anchor> anchors;
  std::vector<AscendSwitch> switches;

  const Anchor* find(std::string_view id) const;
  bool knows(const EngineVersion& vllm_version) const;
  // The nearest version that is known, for messages.
  std::string nearest(const EngineVersion& vllm_version) const;
  // vllm-ascend's own switch at that version; null: it has none.
  const AscendSwitch* switch_at(const EngineVersion& ascend_version) const;

  // The table that ships with the program. internal: it is broken.
  static Result<AnchorTable> builtin();
};

// The same of a text. usage: not of the form, with line.
Result<AnchorTable> read_anchor_table(const std::string& path, const std::string& text);

}  // namespace ulpscope
