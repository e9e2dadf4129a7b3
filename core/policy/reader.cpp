#include "policy/reader.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/suggest.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

// More than any policy needs; what repeats itself through aliases ends here too.
constexpr int kMostNodes = 200'000;
// Nobody reads more of them.
constexpr size_t kMostMistakes = 100;

const std::vector<std::string> kMatchKeys = {"api",   "name",        "kind", "phase", "role",
                                             "dtype", "input_dtype", "rank", "step"};

class Reader {
 public:
  Reader(std::string file, bool preset, std::vector<Error>& mistakes)
      : file_(std::move(file)), preset_(preset), mistakes_(mistakes) {}

  Result<WrittenPolicy> read(const YAML::Node& root) {
    WrittenPolicy policy;
    bool has_version = false;
    ULPSCOPE_TRY(members(
        root, "a policy",
        [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) -> Status {
          if (key == "version") {
            has_version = true;
            return value.IsScalar() && value.Scalar() == "1" ? Status() : wrong(value, "version: expected 1");
          }
          if (key == "extends") return read_extends(value, policy);
          if (key == "levels") return read_levels(value, policy.levels);
          if (key == "defaults") return read_defaults(value, policy.defaults);
          if (key == "rules") return read_rules(value, policy.rules);
          if (key == "ignore") return read_ignore(value, policy.ignore);
          return unknown(at, key, {"version", "extends", "levels", "defaults", "rules", "ignore"});
        }));
    if (!has_version) return wrong(root, "version is missing, expected version: 1");
    return policy;
  }

  Error wrong(const YAML::Mark& mark, const std::string& text) const {
    return {Code::usage, to_text(place(mark)) + ": " + text};
  }

 private:
  PolicyPlace place(const YAML::Mark& mark) const {
    return {file_, static_cast<int32_t>(mark.line) + 1, static_cast<int32_t>(mark.column) + 1, preset_};
  }
  PolicyPlace place(const YAML::Node& node) const { return place(node.Mark()); }
  Error wrong(const YAML::Node& node, const std::string& text) const { return wrong(node.Mark(), text); }
  Error unknown(const YAML::Node& node, const std::string& key, const std::vector<std::string>& known) const {
    return wrong(node, "unknown key '" + printable(key) + "'" + suggestion(key, known));
  }

  Status count(const YAML::Node& node) {
    return ++nodes_ > kMostNodes ? Status(wrong(node, "too large for a policy")) : Status();
  }

  // Takes note of a mistake, so that reading goes on behind it; an error again where nothing more is read.
  Status keep(Status status) {
    if (status.ok()) return {};
    if (nodes_ > kMostNodes || mistakes_.size() >= kMostMistakes) return status;
    mistakes_.push_back(std::move(status).error());
    return {};
  }

  // Hands each member to take; what is wrong with one of them does not keep the others from being read.
  template <class F>
  Status members(const YAML::Node& node, const std::string& what, F take) {
    if (!node.IsMap()) return wrong(node, "expected " + what + " as a mapping");
    std::set<std::string> seen;
    for (const auto& member : node) {
      ULPSCOPE_TRY(count(node));
      const auto one = [&]() -> Status {
        if (!member.first.IsScalar()) return wrong(member.first, "expected a name before the colon");
        const std::string key = member.first.Scalar();
        if (!seen.insert(key).second) return wrong(member.first, "'" + printable(key) + "' stands twice");
        return take(key, member.first, member.second);
      };
      ULPSCOPE_TRY(keep(one()));
    }
    return {};
  }

  template <class F>
  Status items(const YAML::Node& node, const std::string& what, F take) {
    if (!node.IsSequence()) return wrong(node, "expected " + what + " as a list");
    for (const YAML::Node& item : node) {
      ULPSCOPE_TRY(count(node));
      ULPSCOPE_TRY(keep(take(item)));
    }
    return {};
  }

  // A text, or a list of them.
  Status texts(const YAML::Node& node, const std::string& key,
               std::vector<std::pair<std::string, YAML::Node>>& out) {
    const auto one = [&](const YAML::Node& item) -> Status {
      if (!item.IsScalar() || item.Scalar().empty())
        return wrong(item, key + ": expected a name or a list of names");
      out.emplace_back(item.Scalar(), item);
      return {};
    };
    if (!node.IsSequence()) return one(node);
    if (node.size() == 0) return wrong(node, key + ": the list is empty");
    return items(node, key, one);
  }

  Status read_extends(const YAML::Node& node, WrittenPolicy& policy) {
    if (!node.IsScalar() || node.Scalar().empty())
      return wrong(node, "extends: expected a preset, a file or none");
    policy.extends = node.Scalar();
    policy.extends_place = place(node);
    return {};
  }

  Status read_levels(const YAML::Node& node, std::vector<LevelRule>& out) {
    return members(node, "levels",
                   [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) -> Status {
                     const std::string level = value.IsScalar() ? value.Scalar() : "";
                     if (level != "L0" && level != "L1" && level != "L2")
                       return wrong(value, "level of '" + printable(key) + "': expected L0, L1 or L2");
                     LevelRule rule{place(at), {}, level};
                     rule.api.add(key);
                     out.push_back(std::move(rule));
                     return {};
                   });
  }

  Status read_defaults(const YAML::Node& node, std::vector<WrittenDefaults>& out) {
    return members(node, "defaults",
                   [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) -> Status {
                     WrittenDefaults defaults{key, place(at), {}};
                     ULPSCOPE_TRY(read_options(value, "defaults of '" + printable(key) + "'", defaults.with));
                     out.push_back(std::move(defaults));
                     return {};
                   });
  }

  Status read_options(const YAML::Node& node, const std::string& what, std::vector<WrittenOption>& out) {
    return members(node, what,
                   [&](const std::string& key, const YAML::Node&, const YAML::Node& value) -> Status {
                     ULPSCOPE_ASSIGN(std::string json, option_json(key, value));
                     out.push_back({key, std::move(json), place(value)});
                     return {};
                   });
  }

  // A scalar as JSON: a number, a bool, else a text. A number that is not finite is no limit. "2^-14" is
  // understood.
  Result<std::string> option_json(const std::string& key, const YAML::Node& node) const {
    if (!node.IsScalar()) return wrong(node, "option '" + printable(key) + "': expected a single value");
    const std::string& text = node.Scalar();
    if (node.Tag() == "!") return nlohmann::json(text).dump();  // quoted
    if (text == "true" || text == "false") return text;
    double number = 0;
    if (YAML::convert<double>::decode(node, number) || power_of_two(text, number)) {
      if (!std::isfinite(number))
        return wrong(node, "option '" + printable(key) + "': " + printable(text) +
                               " is no limit, expected a finite number");
      if (number < 0)
        return wrong(node, "option '" + printable(key) + "': " + printable(text) +
                               ", expected a number of at least 0");
      return nlohmann::json(number).dump();
    }
    return nlohmann::json(valid_utf8(text)).dump();
  }

  static bool power_of_two(const std::string& text, double& number) {
    if (text.rfind("2^", 0) != 0) return false;
    const auto exponent = parse_int(std::string_view(text).substr(2));
    if (!exponent || *exponent < -1074 || *exponent > 1023) return false;
    number = std::ldexp(1.0, static_cast<int>(*exponent));
    return true;
  }

  // One key of a match; false when it is none.
  Result<bool> read_match_key(const std::string& key, const YAML::Node& value, PolicyMatch& match) {
    if (std::find(kMatchKeys.begin(), kMatchKeys.end(), key) == kMatchKeys.end()) return false;
    if (key == "rank" || key == "step") {
      ULPSCOPE_TRY(read_numbers(key, value, key == "rank" ? match.rank : match.step));
      return true;
    }
    std::vector<std::pair<std::string, YAML::Node>> names;
    ULPSCOPE_TRY(texts(value, key, names));
    NameSet& set = key == "api"     ? match.api
                   : key == "name"  ? match.name
                   : key == "kind"  ? match.kind
                   : key == "phase" ? match.phase
                   : key == "role"  ? match.role
                   : key == "dtype" ? match.dtype
                                    : match.input_dtype;
    for (const auto& [name, node] : names) {
      ULPSCOPE_TRY(check_word(key, name, node));
      set.add(name.rfind("torch.", 0) == 0 && (key == "dtype" || key == "input_dtype") ? name.substr(6)
                                                                                       : name);
    }
    return true;
  }

  static std::vector<std::string> words_of(const std::string& key) {
    if (key == "kind") return {"api", "module", "layer", "kernel", "communication"};
    if (key == "phase") return {"forward", "backward", "none"};
    if (key == "role") return {"input", "kwarg", "output", "parameter", "gradient"};
    std::vector<std::string> words;
    if (key == "dtype" || key == "input_dtype")
      for (int32_t i = 0; i < kDTypeCount; ++i) words.emplace_back(name(static_cast<DType>(i)));
    return words;
  }

  // A pattern that can match none of the words is a slip.
  Status check_word(const std::string& key, const std::string& text, const YAML::Node& node) const {
    const std::vector<std::string> words = words_of(key);
    if (words.empty()) return {};
    NameSet set;
    set.add(text.rfind("torch.", 0) == 0 ? text.substr(6) : text);
    if (std::any_of(words.begin(), words.end(), [&](const std::string& word) { return set.matches(word); }))
      return {};
    return wrong(node, "unknown " + key + " '" + printable(text) + "'" + suggestion(text, words));
  }

  Status read_numbers(const std::string& key, const YAML::Node& node, std::vector<int32_t>& out) {
    std::vector<std::pair<std::string, YAML::Node>> parts;
    ULPSCOPE_TRY(texts(node, key, parts));
    for (const auto& [text, at] : parts) {
      const auto numbers = parse_number_list(text);
      if (!numbers.ok()) return wrong(at, key + ": expected numbers such as 0 or 2-5");
      out.insert(out.end(), numbers->begin(), numbers->end());
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return {};
  }

  Status read_rules(const YAML::Node& node, std::vector<WrittenRule>& out) {
    return items(node, "rules", [&](const YAML::Node& item) -> Status {
      WrittenRule rule;
      rule.place = place(item);
      bool has_use = !item.IsMap();
      ULPSCOPE_TRY(
          members(item, "a rule",
                  [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) -> Status {
                    ULPSCOPE_ASSIGN(const bool is_match, read_match_key(key, value, rule.match));
                    if (is_match) return {};
                    if (key == "with") return read_options(value, "with", rule.with);
                    if (key != "use") return unknown(at, key, rule_keys({"use", "with"}));
                    has_use = true;
                    if (!value.IsScalar() || value.Scalar().empty())
                      return wrong(value, "use: expected the name of a judgement");
                    rule.use = value.Scalar();
                    rule.use_place = place(value);
                    return {};
                  }));
      if (!has_use) return wrong(item, "the rule has no 'use', expected the name of a judgement");
      if (!rule.use.empty()) out.push_back(std::move(rule));
      return {};
    });
  }

  static std::vector<std::string> rule_keys(std::vector<std::string> more) {
    more.insert(more.end(), kMatchKeys.begin(), kMatchKeys.end());
    return more;
  }

  Status read_ignore(const YAML::Node& node, std::vector<IgnoreRule>& out) {
    return items(node, "ignore", [&](const YAML::Node& item) -> Status {
      IgnoreRule rule;
      rule.place = place(item);
      bool any = !item.IsMap(), has_why = !item.IsMap();
      ULPSCOPE_TRY(
          members(item, "an entry of ignore",
                  [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) -> Status {
                    any = any || key != "why";  // a slip in a name is told as such
                    ULPSCOPE_ASSIGN(const bool is_match, read_match_key(key, value, rule.match));
                    if (is_match) return {};
                    if (key != "why") return unknown(at, key, rule_keys({"why"}));
                    has_why = true;
                    if (!value.IsScalar() || value.Scalar().empty())
                      return wrong(value, "why: expected a reason");
                    rule.why = valid_utf8(value.Scalar());
                    return {};
                  }));
      if (!any) return wrong(item, "the entry names nothing to ignore");
      if (!has_why) return wrong(item, "the entry gives no reason, expected why: TEXT");
      out.push_back(std::move(rule));
      return {};
    });
  }

  std::string file_;
  bool preset_;
  std::vector<Error>& mistakes_;
  int nodes_ = 0;
};

}  // namespace

Result<WrittenPolicy> read_policy_text(const std::string& file, bool preset, std::string_view text,
                                       std::vector<Error>& mistakes) {
  Reader reader(file, preset, mistakes);
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (!root.IsDefined() || root.IsNull())
      return Error{Code::usage, printable(file) + ":1:1: the file is empty, expected a policy"};
    return reader.read(root);
  } catch (const YAML::Exception& problem) {
    return reader.wrong(problem.mark, "not YAML: " + problem.msg);
  }
}

}  // namespace ulpscope
