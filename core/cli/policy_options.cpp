#include "cli/policy_options.hpp"

#include <ctime>

#include "policy/loader.hpp"

namespace ulpscope {

std::vector<OptionSpec> policy_options() {
  return {{"policy",
           {},
           OptionKind::value,
           "FILE",
           "rules: which judgement for which operation (docs/policy.md)"},
          {"profile",
           {},
           OptionKind::value,
           "NAME",
           "a built-in policy: seed (default), msprobe_code, msprobe_per_api or cann_community"}};
}

Result<Policy> chosen_policy(Context& context, const ParsedOptions& options) {
  ULPSCOPE_ASSIGN(Registry * registry, context.registry());
  const auto file = options.text("policy");
  if (file && options.has("profile"))
    return Error{Code::usage, "give --policy or --profile: the file says what it extends"};
  if (file) return load_policy(*file, *registry);
  auto preset = load_preset(options.text_or("profile", "seed"), *registry);
  if (!preset.ok()) return std::move(preset).error().within("option --profile");
  return preset;
}

std::string compact_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  char text[32];
  return std::string(text, std::strftime(text, sizeof text, "%Y%m%d%H%M%S", &local));
}

}  // namespace ulpscope
