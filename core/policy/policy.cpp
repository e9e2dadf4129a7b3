#include "policy/policy.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace ulpscope {
namespace {

bool has_wildcard(std::string_view pattern) { return pattern.find_first_of("*?") != std::string_view::npos; }

bool covers_numbers(const std::vector<int32_t>& mine, const std::vector<int32_t>& other) {
  if (mine.empty()) return true;
  return !other.empty() && std::includes(mine.begin(), mine.end(), other.begin(), other.end());
}

bool matches_number(const std::vector<int32_t>& list, int32_t number) {
  return list.empty() || std::binary_search(list.begin(), list.end(), number);
}

}  // namespace

std::string to_text(const PolicyPlace& place) {
  return printable(place.file) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

void NameSet::add(std::string_view pattern) {
  patterns_.emplace_back(pattern);
  if (has_wildcard(pattern))
    globs_.push_back(to_lower(pattern));
  else
    exact_.insert(to_lower(pattern));
}

bool NameSet::matches(std::string_view name) const {
  if (empty()) return true;
  const std::string lower = to_lower(name);
  if (exact_.count(lower) > 0) return true;
  return std::any_of(globs_.begin(), globs_.end(),
                     [&](const std::string& glob) { return glob_match(glob, lower); });
}

bool NameSet::covers(const NameSet& other) const {
  if (empty()) return true;
  if (other.empty()) return std::find(globs_.begin(), globs_.end(), "*") != globs_.end();
  return std::all_of(other.patterns_.begin(), other.patterns_.end(), [&](const std::string& pattern) {
    const std::string lower = to_lower(pattern);
    if (!has_wildcard(lower)) return matches(lower);
    // A pattern is covered by itself and by "*"; more is not decided here.
    return std::any_of(globs_.begin(), globs_.end(),
                       [&](const std::string& glob) { return glob == "*" || glob == lower; });
  });
}

std::string_view policy_word(OpKind kind) {
  switch (kind) {
    case OpKind::api:
      return "api";
    case OpKind::module:
      return "module";
    case OpKind::layer:
      return "layer";
    case OpKind::kernel:
      return "kernel";
    case OpKind::communication:
      return "communication";
  }
  return "";
}

std::string_view policy_word(Phase phase) {
  return phase == Phase::forward ? "forward" : phase == Phase::backward ? "backward" : "none";
}

std::string_view policy_word(Role role) {
  switch (role) {
    case Role::input:
      return "input";
    case Role::kwarg:
      return "kwarg";
    case Role::output:
      return "output";
    case Role::parameter:
      return "parameter";
    case Role::gradient:
      return "gradient";
  }
  return "";
}

bool PolicyMatch::matches(const PolicySubject& subject) const {
  if (!matches_number(rank, subject.rank) || !matches_number(step, subject.step)) return false;
  if (!dtype.matches(ulpscope::name(subject.dtype)) || !api.matches(subject.api)) return false;
  if (!name.matches(subject.name) || !kind.matches(policy_word(subject.kind)) ||
      !phase.matches(policy_word(subject.phase)) || !role.matches(policy_word(subject.role)))
    return false;
  if (input_dtype.empty()) return true;
  return std::any_of(subject.input_dtypes.begin(), subject.input_dtypes.end(),
                     [&](DType t) { return input_dtype.matches(ulpscope::name(t)); });
}

bool PolicyMatch::covers(const PolicyMatch& other) const {
  return api.covers(other.api) && name.covers(other.name) && kind.covers(other.kind) &&
         phase.covers(other.phase) && role.covers(other.role) && dtype.covers(other.dtype) &&
         input_dtype.covers(other.input_dtype) && covers_numbers(rank, other.rank) &&
         covers_numbers(step, other.step);
}

std::string_view Policy::level_of(std::string_view api) const {
  for (const LevelRule& level : levels)
    if (level.api.matches(api)) return level.level;
  return "L0";
}

}  // namespace ulpscope
