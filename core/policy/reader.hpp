// The grammar of one policy file: turns YAML into plain data with places. Knows no judgement and follows no
// "extends". Used by loader.cpp only.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "policy/policy.hpp"

namespace ulpscope {

// An option as written: its JSON text and its place.
struct WrittenOption {
  std::string name, json;
  PolicyPlace place;
};

struct WrittenRule {
  PolicyPlace place, use_place;
  PolicyMatch match;
  std::string use;
  std::vector<WrittenOption> with;
};

struct WrittenDefaults {
  std::string judgement;
  PolicyPlace place;
  std::vector<WrittenOption> with;
};

struct WrittenPolicy {
  std::string extends = "seed";
  PolicyPlace extends_place;
  std::vector<LevelRule> levels;
  std::vector<WrittenDefaults> defaults;
  std::vector<WrittenRule> rules;
  std::vector<IgnoreRule> ignore;
};

// What is wrong is added to mistakes (usage with file:line:column), and the policy is then what could be read
// around it. usage: it is no YAML, no policy at all, or too much of one. file is what messages call it;
// preset marks the places.
Result<WrittenPolicy> read_policy_text(const std::string& file, bool preset, std::string_view text,
                                       std::vector<Error>& mistakes);

}  // namespace ulpscope
