// The parts of the name of a row: "Torch.linalg.norm.0.forward.output.1". Used by precision_compare.
#pragma once

#include <ulpscope/types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace ulpscope {

struct OutputName {
  std::string id;   // "Torch.linalg.norm.0"
  std::string api;  // "linalg.norm"
  Phase phase = Phase::forward;
};

// Nothing when the text has neither 6 nor 7 parts, or its third from the end is no direction.
std::optional<OutputName> parse_output_name(std::string_view text);

}  // namespace ulpscope
