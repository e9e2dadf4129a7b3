#include "plugin/options.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace ulpscope {

Result<ComponentOptions> options_for(std::string_view options_json,
                                     std::span<const ulpscope_option_desc> listed) {
  using Json = nlohmann::ordered_json;
  if (options_json.empty()) return ComponentOptions{"{}", {}};
  const Json given = Json::parse(options_json, nullptr, false);
  if (!given.is_object()) return Error{Code::usage, "options: expected a JSON object"};
  Json kept = Json::object();
  ComponentOptions result;
  for (const auto& item : given.items()) {
    const std::string& name = item.key();
    const bool is_listed = std::any_of(listed.begin(), listed.end(), [&](const ulpscope_option_desc& option) {
      return name == option.name;
    });
    if (is_listed)
      kept[name] = item.value();
    else
      result.dropped.push_back(name);
  }
  // Text that is not UTF-8 came through the parser only inside a string; the component gets a replacement
  // character.
  result.json = kept.dump(-1, ' ', false, Json::error_handler_t::replace);
  return result;
}

}  // namespace ulpscope
