// Puts a policy to use: makes the judgements of its rules once, and tells for each pair which one judges it.
// Used by compare, check and precision-compare.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "plugin/registry.hpp"
#include "policy/policy.hpp"

namespace ulpscope {

// Which judgement a pair gets, and why.
struct Choice {
  static constexpr int32_t kNone = -1;  // no rule is left: the caller's own judgement
  int32_t judgement = kNone;            // index of JudgementChooser::judgements()
  int32_t rule = kNone;                 // index of Policy::rules
  int32_t ignored_by = kNone;           // index of Policy::ignore: the pair is not judged
  std::string note;                     // rules that matched and were passed over, each with the reason
};

class JudgementChooser {
 public:
  // Makes nothing yet but takes the policy. registry outlives the chooser.
  JudgementChooser(Policy policy, Registry& registry) : policy_(std::move(policy)), registry_(registry) {}

  // The first rule that matches and whose judgement applies; those that need a reference only with one.
  // usage: a judgement refuses its options together with the guard level. One thread.
  Result<Choice> choose(const PolicySubject& subject, const ulpscope_pair& pair, bool has_reference);

  // The entry of ignore that matches, Choice::kNone for none.
  int32_t ignored_by(const PolicySubject& subject);

  const Policy& policy() const { return policy_; }
  // Stays as it is while nothing more is chosen; the handles may be used from any thread.
  const JudgementHandle& judgement(int32_t index) const { return judgements_[static_cast<size_t>(index)]; }
  // The options of a judgement as it got them, with the guard level.
  const std::string& options_json(int32_t index) const { return options_[static_cast<size_t>(index)]; }
  int32_t count() const { return static_cast<int32_t>(judgements_.size()); }

  // Rules, ignore entries and levels of the user's own files that nothing matched so far, as warnings with
  // their places.
  std::vector<std::string> unused() const;

 private:
  Result<int32_t> judgement_of(int32_t rule, std::string_view level);

  Policy policy_;
  Registry& registry_;
  std::vector<JudgementHandle> judgements_;
  std::vector<std::string> options_;
  std::map<std::pair<std::string, std::string>, int32_t> made_;       // by name and options
  std::map<std::pair<int32_t, std::string>, int32_t> made_for_rule_;  // by rule and level
  std::vector<bool> rule_used_, ignore_used_;
};

}  // namespace ulpscope
