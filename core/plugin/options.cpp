#include "plugin/options.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace ulpscope {
namespace {

using Json = nlohmann::ordered_json;

// What a person means who writes one number where a list is read, or a name that looks like a number where a
// text is. What does not fit stays as it is, for the component to refuse.
Json as_listed(Json value, std::string_view type) {
  if (type == "list of int") {
    if (value.is_number_integer()) return Json::array({value});
    if (!value.is_string()) return value;
    const auto numbers = parse_number_list(value.get<std::string>());
    return numbers.ok() ? Json(*numbers) : value;
  }
  const bool is_scalar = value.is_number() || value.is_boolean();
  return (type == "text" || type == "string") && is_scalar ? Json(value.dump()) : value;
}

}  // namespace

Result<ComponentOptions> options_for(std::string_view options_json,
                                     std::span<const ulpscope_option_desc> listed) {
  if (options_json.empty()) return ComponentOptions{"{}", {}};
  const Json given = Json::parse(options_json, nullptr, false);
  if (!given.is_object()) return Error{Code::usage, "options: expected a JSON object"};
  Json kept = Json::object();
  ComponentOptions result;
  for (const auto& item : given.items()) {
    const std::string& name = item.key();
    const auto option = std::find_if(listed.begin(), listed.end(),
                                     [&](const ulpscope_option_desc& each) { return name == each.name; });
    if (option != listed.end())
      kept[name] = as_listed(item.value(), option->type == nullptr ? "" : option->type);
    else
      result.dropped.push_back(name);
  }
  // Text that is not UTF-8 came through the parser only inside a string; the component gets a replacement
  // character.
  result.json = kept.dump(-1, ' ', false, Json::error_handler_t::replace);
  return result;
}

}  // namespace ulpscope
