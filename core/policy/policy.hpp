// The rules that choose a judgement: plain data, as a policy file has them, with the place of each for
// messages. Read by loader.hpp, put to use by chooser.hpp. architecture: the first rule that matches decides.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ulpscope {

// Where in which file something stands; line and column count from 1.
struct PolicyPlace {
  std::string file;  // a path, or "preset seed"
  int32_t line = 0, column = 0;
  bool preset = false;
};
std::string to_text(const PolicyPlace& place);  // "my.yaml:3:5"

// A list of names with '*' and '?'; names match without case. An empty list matches everything.
class NameSet {
 public:
  void add(std::string_view pattern);
  bool empty() const { return exact_.empty() && globs_.empty(); }
  bool matches(std::string_view name) const;
  // Whether every name that other can match is matched here too, as far as the patterns themselves tell.
  bool covers(const NameSet& other) const;
  const std::vector<std::string>& patterns() const { return patterns_; }

 private:
  std::unordered_set<std::string> exact_;  // lower case
  std::vector<std::string> globs_;
  std::vector<std::string> patterns_;  // as given
};

// What a rule is held against: an output of an op, or a row of a table of results.
struct PolicySubject {
  std::string_view api;   // the operation alone: "linear"
  std::string_view name;  // its record: "Functional.linear.3.forward"
  OpKind kind = OpKind::api;
  Phase phase = Phase::none;
  Role role = Role::output;
  DType dtype = DType::none;            // of the target
  std::span<const DType> input_dtypes;  // of the op's inputs, as far as they are known
  int32_t rank = -1, step = -1;
};

// All keys that are given must match.
struct PolicyMatch {
  NameSet api, name, kind, phase, role, dtype, input_dtype;
  std::vector<int32_t> rank, step;

  bool matches(const PolicySubject& subject) const;
  bool covers(const PolicyMatch& other) const;
};

struct PolicyRule {
  PolicyPlace place;
  PolicyMatch match;
  std::string use;           // name of the judgement
  std::string options_json;  // an object: "with", over the defaults of the policy
};

struct IgnoreRule {
  PolicyPlace place;
  PolicyMatch match;
  std::string why;
};

struct LevelRule {
  PolicyPlace place;
  NameSet api;
  std::string level;  // L0, L1 or L2
};

struct Policy {
  std::string name;  // the preset or file that was asked for
  std::string hash;  // of everything that was read, 16 hex digits
  std::vector<LevelRule> levels;
  std::vector<PolicyRule> rules;
  std::vector<IgnoreRule> ignore;

  // The guard level of an operation: the first one that names it, else L0.
  std::string_view level_of(std::string_view api) const;
};

std::string_view policy_word(OpKind kind);
std::string_view policy_word(Phase phase);
std::string_view policy_word(Role role);

}  // namespace ulpscope
