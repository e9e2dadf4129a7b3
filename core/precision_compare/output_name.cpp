#include "precision_compare/output_name.hpp"

#include "base/text.hpp"

namespace ulpscope {

std::optional<OutputName> parse_output_name(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() != 6 && parts.size() != 7) return std::nullopt;
  const std::string_view direction = parts[parts.size() - 3];
  if (direction != "forward" && direction != "backward") return std::nullopt;
  OutputName name;
  name.phase = direction == "forward" ? Phase::forward : Phase::backward;
  for (size_t i = 0; i + 3 < parts.size(); ++i) name.id += (i == 0 ? "" : ".") + std::string(parts[i]);
  name.api = parts[1];
  if (parts.size() == 7) name.api += "." + std::string(parts[2]);
  return name;
}

}  // namespace ulpscope
