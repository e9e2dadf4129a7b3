#include "outputs/model_output.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace ulpscope {

std::string_view to_text(IdKind kind) {
  switch (kind) {
    case IdKind::custom_id:
      return "custom_id";
    case IdKind::id:
      return "id";
    case IdKind::key:
      return "key";
    case IdKind::none:
      break;
  }
  return "";
}

Finish finish_of(std::string_view reason) {
  const std::string word = to_lower(reason);
  constexpr std::array<std::string_view, 4> kLength = {"length", "max_tokens", "max_length",
                                                       "max_new_tokens"};
  constexpr std::array<std::string_view, 9> kStop = {"stop",          "eos",        "eos_token",
                                                     "end_turn",      "tool_calls", "function_call",
                                                     "stop_sequence", "stop_token", "end_of_text"};
  if (std::find(kLength.begin(), kLength.end(), word) != kLength.end()) return Finish::length;
  if (std::find(kStop.begin(), kStop.end(), word) != kStop.end()) return Finish::stop;
  return Finish::unknown;
}

bool is_engine_id(std::string_view id) {
  constexpr std::array<std::string_view, 3> kPrefixes = {"cmpl-", "chatcmpl-", "resp_"};
  if (std::any_of(kPrefixes.begin(), kPrefixes.end(),
                  [&](std::string_view prefix) { return id.starts_with(prefix); }))
    return true;
  return !id.empty() && std::all_of(id.begin(), id.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace ulpscope
