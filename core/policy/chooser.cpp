#include "policy/chooser.hpp"

#include <algorithm>

namespace ulpscope {
namespace {

bool lists_level(const ulpscope_judgement_desc& desc) {
  return std::any_of(desc.options, desc.options + desc.option_count, [](const ulpscope_option_desc& option) {
    return std::string_view(option.name) == "level";
  });
}

// The options with the guard level, unless they name one themselves.
std::string with_level(const std::string& options_json, std::string_view level) {
  if (options_json.find("\"level\":") != std::string::npos) return options_json;
  const std::string member = "\"level\":\"" + std::string(level) + "\"";
  return options_json == "{}" ? "{" + member + "}" : "{" + member + "," + options_json.substr(1);
}

}  // namespace

Result<int32_t> JudgementChooser::judgement_of(int32_t rule, std::string_view level) {
  const auto key = std::pair(rule, std::string(level));
  if (const auto found = made_for_rule_.find(key); found != made_for_rule_.end()) return found->second;
  const PolicyRule& entry = policy_.rules[static_cast<size_t>(rule)];
  ULPSCOPE_ASSIGN(const ulpscope_judgement_desc* desc, registry_.judgement(entry.use));
  const std::string options = lists_level(*desc) ? with_level(entry.options_json, level) : entry.options_json;
  const auto [place, is_new] = made_.try_emplace({entry.use, options}, count());
  if (is_new) {
    auto made = registry_.create_judgement(entry.use, options);
    if (!made.ok()) return std::move(made).error().within(to_text(entry.place));
    judgements_.push_back(std::move(made).value());
    options_.push_back(options);
  }
  made_for_rule_.emplace(key, place->second);
  return place->second;
}

int32_t JudgementChooser::ignored_by(const PolicySubject& subject) {
  ignore_used_.resize(policy_.ignore.size());
  for (size_t i = 0; i < policy_.ignore.size(); ++i) {
    if (!policy_.ignore[i].match.matches(subject)) continue;
    ignore_used_[i] = true;
    return static_cast<int32_t>(i);
  }
  return Choice::kNone;
}

Result<Choice> JudgementChooser::choose(const PolicySubject& subject, const ulpscope_pair& pair,
                                        bool has_reference) {
  Choice choice;
  rule_used_.resize(policy_.rules.size());
  choice.ignored_by = ignored_by(subject);
  if (choice.ignored_by != Choice::kNone) return choice;
  const std::string_view level = policy_.level_of(subject.api);
  for (size_t i = 0; i < policy_.rules.size(); ++i) {
    const PolicyRule& rule = policy_.rules[i];
    if (!rule.match.matches(subject)) continue;
    rule_used_[i] = true;
    ULPSCOPE_ASSIGN(const int32_t index, judgement_of(static_cast<int32_t>(i), level));
    std::string why_not;
    if (judgement(index).desc().needs_reference == 1 && !has_reference)
      why_not = "no reference";
    else if (judgement(index).applies(pair, why_not)) {
      choice.judgement = index;
      choice.rule = static_cast<int32_t>(i);
      return choice;
    }
    choice.note += (choice.note.empty() ? "" : "; ") + rule.use + " passed over: " + why_not;
  }
  return choice;
}

std::vector<std::string> JudgementChooser::unused() const {
  std::vector<std::string> out;
  for (size_t i = 0; i < policy_.rules.size(); ++i)
    if (!policy_.rules[i].place.preset && (i >= rule_used_.size() || !rule_used_[i]))
      out.push_back(to_text(policy_.rules[i].place) + ": the rule matched nothing in this run");
  for (size_t i = 0; i < policy_.ignore.size(); ++i)
    if (!policy_.ignore[i].place.preset && (i >= ignore_used_.size() || !ignore_used_[i]))
      out.push_back(to_text(policy_.ignore[i].place) + ": the entry of ignore matched nothing in this run");
  return out;
}

}  // namespace ulpscope
