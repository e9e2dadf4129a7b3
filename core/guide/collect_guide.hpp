// Where and how to collect, for one engine, version, launch mode and device: the process map, the places, the
// form of the start, flags, config.json, which step makes a token, and what is wrong with the request (rules
// G01 to G12). Reads the tree for line numbers, changes nothing. Used by guide.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "guide/anchors.hpp"
#include "guide/engine_tree.hpp"
#include "guide/guide_texts.hpp"

namespace ulpscope {

struct GuideRequest {
  std::optional<EngineTree> tree;
  std::optional<EngineVersion> vllm, vllm_ascend;
  std::string engine = "auto", model_runner = "auto", mode = "offline", device = "gpu";
  int64_t tensor_parallel = 1, pipeline_parallel = 1, data_parallel = 1;
  std::string config_path;  // absolute, where config.json is written to; empty: it is only shown
  bool disable_frontend_multiprocessing = false, enforce_eager = false, allow_unknown_shape = false;
  std::string level = "mix", task = "statistics", dump_path = "./ulpscope_dump";
  std::optional<int64_t> token;
  std::optional<int64_t> step;                                  // that makes it, where a ledger told
  std::map<std::string, std::string, std::less<>> environment;  // of --env
  std::vector<std::string> launch_flags;                        // given to vLLM already: "--max-num-seqs"
};

enum class RuleKind : uint8_t { error, warning, note };
std::string_view to_text(RuleKind kind);

struct RuleHit {
  std::string id;  // "G03"; empty for a note that belongs to no rule
  RuleKind kind = RuleKind::note;
  BothLanguages text;
};

struct GuidePlace {
  std::string anchor, file, class_name, method;
  std::optional<size_t> line;  // of the def in the tree, from 1
  BothLanguages what;          // what to insert where
  bool recommended = false;
  std::string start;  // the call there: with the model's expression, or token_range in the user's script
};

struct GuideProcess {
  std::string ranks;
  BothLanguages process;
};

struct GuideFlag {
  std::string text;    // "--max-num-seqs 1"
  BothLanguages note;  // may be empty
};

struct CollectGuide {
  std::string engine, runner;    // as chosen
  bool runner_by_model = false;  // vLLM chooses the model runner by the model: V1 or V2
  std::vector<GuideProcess> processes;
  std::vector<GuidePlace> places;
  std::string instrument;  // the command that inserts it all; empty where there is no place
  std::string start, model_expression, stop;  // start is empty where there is no place
  std::vector<GuideFlag> flags;
  std::string config_json;
  std::vector<BothLanguages> step_rules;
  std::vector<int64_t> steps;  // what config.json says under the assumptions of the rules
  std::vector<RuleHit> rules;

  bool has_error() const;
  bool has_warning() const;
};

CollectGuide collect_guide(const GuideRequest& request, const AnchorTable& table);

}  // namespace ulpscope
