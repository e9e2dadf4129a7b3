#include "judgements/options.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ulpscope {
namespace {

Failure usage(const std::string& text) { return {ULPSCOPE_E_USAGE, text}; }

}  // namespace

JudgementOptions::JudgementOptions(std::string_view judgement, std::string_view options_json,
                                   std::span<const ulpscope_option_desc> listed)
    : judgement_(judgement) {
  if (options_json.empty()) return;
  const auto given = nlohmann::json::parse(options_json, nullptr, false);
  if (!given.is_object()) throw usage(judgement_ + ": expected a JSON object of options");
  for (const auto& [name, value] : given.items()) {
    const bool known =
        std::any_of(listed.begin(), listed.end(),
                    [&, name = name](const ulpscope_option_desc& option) { return name == option.name; });
    if (!known) throw usage(judgement_ + ": there is no option '" + name + "'");
    if (value.is_number())
      numbers_[name] = value.get<double>();
    else if (value.is_string())
      texts_[name] = value.get<std::string>();
    else if (value.is_boolean())
      texts_[name] = value.get<bool>() ? "true" : "false";
    else
      throw usage(judgement_ + ": option '" + name + "': expected a number, a text or true or false");
  }
  // Every number is a tolerance, whoever reads it in the end.
  for (const auto& [name, value] : numbers_)
    if (!std::isfinite(value) || value < 0)
      throw usage(judgement_ + ": option '" + name + "': expected a number of at least 0");
}

double JudgementOptions::number(const std::string& name, double otherwise) const {
  if (texts_.count(name) > 0) throw usage(judgement_ + ": option '" + name + "': expected a number");
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? otherwise : found->second;
}

std::string JudgementOptions::choice(const std::string& name, const std::vector<std::string>& words) const {
  const auto found = texts_.find(name);
  if (found == texts_.end() && numbers_.count(name) == 0) return words.front();
  if (found != texts_.end() && std::find(words.begin(), words.end(), found->second) != words.end())
    return found->second;
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  throw usage(judgement_ + ": option '" + name + "': expected one of " + list);
}

bool JudgementOptions::flag(const std::string& name) const {
  return choice(name, {"false", "true"}) == "true";
}

LimitProfile JudgementOptions::profile() const {
  return choice("profile", {"seed", "msprobe_code"}) == "seed" ? LimitProfile::seed
                                                               : LimitProfile::msprobe_code;
}

double JudgementOptions::of_type(DType device, const char* limit, double otherwise) const {
  return number(std::string(to_text(limit_class(device))) + "_" + limit, otherwise);
}

}  // namespace ulpscope
