#include "policy/loader.hpp"

#include <xxhash.h>

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "policy/cann_community_yaml.hpp"
#include "policy/msprobe_code_yaml.hpp"
#include "policy/msprobe_per_api_yaml.hpp"
#include "policy/reader.hpp"
#include "policy/seed_yaml.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 20;
constexpr int kDeepestExtends = 8;

Error wrong(const PolicyPlace& place, const std::string& text) {
  return {Code::usage, to_text(place) + ": " + text};
}

// Defaults by judgement, then by option; what a file says itself counts more than what it extends.
using Defaults = std::map<std::string, std::map<std::string, WrittenOption>>;

// Reads the chain of files and presets, the first one being what was asked for.
class Chain {
 public:
  // preset_asked: the first word names a preset, not a file.
  Chain(bool preset_asked, std::vector<Error>& mistakes) : mistakes_(mistakes), preset_asked_(preset_asked) {}

  Status read(const std::string& word, const PolicyPlace* from) {
    if (word == "none") return {};
    if (++depth_ > kDeepestExtends)
      return wrong(*from,
                   "extends: more than " + std::to_string(kDeepestExtends) + " policies on each other");
    ULPSCOPE_ASSIGN(const std::string text, text_of(word, from));
    ULPSCOPE_ASSIGN(WrittenPolicy policy, read_policy_text(name_, preset_, text, mistakes_));
    texts_ += text;
    const std::string extends = policy.extends;
    const PolicyPlace place =
        policy.extends_place.file.empty() ? PolicyPlace{name_, 1, 1, preset_} : policy.extends_place;
    policies.push_back(std::move(policy));
    return read(extends, &place);
  }

  std::string hash() const { return fmt::format("{:016x}", XXH3_64bits(texts_.data(), texts_.size())); }

  std::vector<WrittenPolicy> policies;

 private:
  // Sets name_ and preset_.
  Result<std::string> text_of(const std::string& word, const PolicyPlace* from) {
    const auto preset = preset_text(word);
    if (preset.ok() && (from != nullptr || preset_asked_)) {
      name_ = "preset " + word;
      preset_ = true;
      return std::string(*preset);
    }
    std::filesystem::path path(word);
    if (from != nullptr && path.is_relative()) {
      if (preset_) return wrong(*from, "extends: a preset extends a preset");
      path = std::filesystem::path(folder_) / path;
    }
    const auto file = File::open(path.string());
    if (!file.ok()) return unreadable(word, from, file.error());
    std::error_code ignored;
    if (!seen_.insert(std::filesystem::weakly_canonical(path, ignored).string()).second)
      return wrong(*from, "extends: the policies extend each other in a circle");
    auto text = file->read_text(kMostBytes);
    if (!text.ok()) return unreadable(word, from, text.error());
    name_ = path.string();
    folder_ = path.parent_path().string();
    preset_ = false;
    return text;
  }

  static Error unreadable(const std::string& word, const PolicyPlace* from, const Error& error) {
    if (from == nullptr) return {Code::usage, error.message};
    return wrong(*from, "extends: " + error.message + "; expected a file, none or a preset" +
                            suggestion(word, preset_names()));
  }

  std::vector<Error>& mistakes_;
  std::string name_, folder_, texts_;
  bool preset_ = false;
  int depth_ = 0;
  std::set<std::string> seen_;
  bool preset_asked_ = false;
};

// Turns what was written into rules, asking each judgement for its options. What is wrong is added to
// mistakes; the policy is of use only where there are none.
class Compiler {
 public:
  Compiler(Registry& registry, std::vector<Error>& mistakes) : registry_(registry), mistakes_(mistakes) {}

  Policy compile(std::vector<WrittenPolicy> written) {
    collect_defaults(written);
    Policy policy;
    for (WrittenPolicy& each : written) {
      std::move(each.levels.begin(), each.levels.end(), std::back_inserter(policy.levels));
      std::move(each.ignore.begin(), each.ignore.end(), std::back_inserter(policy.ignore));
      for (WrittenRule& rule : each.rules) keep(add_rule(std::move(rule), policy));
    }
    if (mistakes_.empty()) check_reachable(policy);
    return policy;
  }

 private:
  void keep(Status status) {
    if (!status.ok()) mistakes_.push_back(std::move(status).error());
  }

  Result<const ulpscope_judgement_desc*> judgement(const std::string& name, const PolicyPlace& place) {
    const auto found = registry_.judgement(name);
    if (found.ok()) return *found;
    return wrong(place, "use: " + found.error().message);
  }

  Status check_options(const std::string& name, const std::vector<WrittenOption>& options,
                       const PolicyPlace& place) {
    ULPSCOPE_ASSIGN(const ulpscope_judgement_desc* desc, judgement(name, place));
    std::vector<std::string> known;
    for (uint32_t i = 0; i < desc->option_count; ++i) known.emplace_back(desc->options[i].name);
    for (const WrittenOption& option : options) keep(check_option(name, option, known));
    return {};
  }

  Status check_option(const std::string& name, const WrittenOption& option,
                      const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), option.name) == known.end())
      return wrong(option.place, "judgement '" + name + "' has no option '" + printable(option.name) + "'" +
                                     suggestion(option.name, known));
    // Alone, so that a refusal is about this option.
    const std::string json = "{" + nlohmann::json(option.name).dump() + ":" + option.json + "}";
    if (const auto made = registry_.create_judgement(name, json); !made.ok())
      return wrong(option.place, made.error().message);
    return {};
  }

  void collect_defaults(const std::vector<WrittenPolicy>& written) {
    for (const WrittenPolicy& policy : written)
      for (const WrittenDefaults& defaults : policy.defaults) {
        keep(check_options(defaults.judgement, defaults.with, defaults.place));
        for (const WrittenOption& option : defaults.with)
          defaults_[defaults.judgement].emplace(option.name, option);  // keeps what is there
      }
  }

  Status add_rule(WrittenRule written, Policy& policy) {
    ULPSCOPE_TRY(check_options(written.use, written.with, written.use_place));
    // Refused by a judgement once is enough, and with a mistake in the defaults each of its rules would be.
    if (!mistakes_.empty()) return {};
    std::map<std::string, WrittenOption> options = defaults_[written.use];
    for (const WrittenOption& option : written.with) options.insert_or_assign(option.name, option);
    std::string json = "{";
    for (const auto& [name, option] : options)
      json += (json.size() > 1 ? "," : "") + nlohmann::json(name).dump() + ":" + option.json;
    json += "}";
    if (const auto made = registry_.create_judgement(written.use, json); !made.ok())
      return wrong(written.place, made.error().message);
    policy.rules.push_back({written.place, std::move(written.match), written.use, json});
    return {};
  }

  // Whether a pair that both rules match always stays with the earlier one: its judgement needs no reference
  // and applies to every element type that the later rule names.
  bool takes_all(const PolicyRule& earlier, const PolicyRule& later) {
    const auto made = registry_.create_judgement(earlier.use, earlier.options_json);
    if (!made.ok() || made->desc().needs_reference == 1) return false;
    static const ulpscope_op_record op = {};
    for (int32_t t = 1; t < kDTypeCount; ++t) {
      if (!later.match.dtype.matches(name(static_cast<DType>(t)))) continue;
      ulpscope_pair pair = {};
      pair.struct_size = sizeof pair;
      pair.op = &op;
      pair.role = ULPSCOPE_OUTPUT;
      pair.actual_dtype = pair.golden_dtype = t;
      std::string why_not;
      if (!made->applies(pair, why_not)) return false;
    }
    return true;
  }

  // Only rules of the user are held against those before them: a preset stands as it is.
  void check_reachable(const Policy& policy) {
    for (size_t i = 1; i < policy.rules.size(); ++i) {
      const PolicyRule& later = policy.rules[i];
      if (later.place.preset) continue;
      for (size_t k = 0; k < i; ++k) {
        const PolicyRule& earlier = policy.rules[k];
        if (earlier.place.file != later.place.file || !earlier.match.covers(later.match)) continue;
        if (earlier.use != later.use && !takes_all(earlier, later)) continue;
        keep(wrong(later.place, "the rule is never reached: " + to_text(earlier.place) +
                                    " decides on everything that it matches"));
        break;
      }
    }
  }

  Registry& registry_;
  std::vector<Error>& mistakes_;
  Defaults defaults_;
};

Error all_of(const std::vector<Error>& mistakes) {
  Error all{Code::usage, ""};
  for (const Error& each : mistakes) all.message += (all.message.empty() ? "" : "\n") + each.message;
  return all;
}

Result<Policy> load(const std::string& word, bool preset, Registry& registry) {
  std::vector<Error> mistakes;
  Chain chain(preset, mistakes);
  if (Status read = chain.read(word, nullptr); !read.ok()) mistakes.push_back(std::move(read).error());
  // What could be read is looked at even so: one run says all that is wrong.
  Policy policy = Compiler(registry, mistakes).compile(std::move(chain.policies));
  if (!mistakes.empty()) return all_of(mistakes);
  policy.name = word;
  policy.hash = chain.hash();
  return policy;
}

}  // namespace

const std::vector<std::string>& preset_names() {
  static const std::vector<std::string> names = {"seed", "msprobe_code", "msprobe_per_api", "cann_community"};
  return names;
}

Result<std::string_view> preset_text(std::string_view name) {
  if (name == "seed") return kSeedYaml;
  if (name == "msprobe_code") return kMsprobeCodeYaml;
  if (name == "msprobe_per_api") return kMsprobePerApiYaml;
  if (name == "cann_community") return kCannCommunityYaml;
  return Error{Code::usage, "there is no preset '" + printable(name) +
                                "', expected seed, msprobe_code, msprobe_per_api or cann_community" +
                                suggestion(name, preset_names())};
}

Result<Policy> load_preset(std::string_view name, Registry& registry) {
  ULPSCOPE_TRY(preset_text(name));
  return load(std::string(name), true, registry);
}

Result<Policy> load_policy(const std::string& path, Registry& registry) {
  return load(path, false, registry);
}

}  // namespace ulpscope
