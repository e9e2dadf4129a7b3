// What a log of vLLM or MindIE says of the configuration: the engine's settings, the arguments it was started
// with, and the sampling parameters of each request. Read line by line, so that a log of any size takes the
// memory of its longest line that matters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "config_check/config_value.hpp"

namespace ulpscope {

struct SamplingRequest {
  ConfigValue parameters;  // an object
  std::vector<int64_t> prompt_ids;
  bool has_ids = false;
};

struct LogFacts {
  ConfigValue engine;     // of "Initializing a V1 LLM engine (v0.9.1) with config: …"; null: no such line
  ConfigValue arguments;  // of "non-default args: {…}" or "args: Namespace(…)"; null: no such line
  ConfigValue model_config;  // of a ModelConfig(…) print; null: none
  std::string version;       // of vLLM, as the engine line says
  std::vector<SamplingRequest> requests;
};

// io. What is cut off (lines above 16 MiB, more than 10,000 requests) is a notice.
Result<LogFacts> read_log(const std::string& path, Diagnostics& diagnostics);

// The first ModelConfig(…) of a print; null when the text holds none.
ConfigValue parse_model_config_print(std::string_view text);

}  // namespace ulpscope
