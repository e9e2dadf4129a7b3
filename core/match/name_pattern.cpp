#include "match/name_pattern.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr int kMaxCaptures = 16;
constexpr int64_t kMaxSteps = 100000;  // of matching one name: several '*' may need many trials

bool is_word(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

Result<NamePattern> NamePattern::parse(std::string_view text) {
  NamePattern pattern;
  pattern.text_ = std::string(text);
  int captures = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '*' || c == '?') {
      pattern.parts_.push_back({c == '*' ? Part::any : Part::one, {}, 0});
      ++at;
    } else if (c == '{') {
      const size_t end = text.find('}', at);
      if (end == std::string_view::npos)
        return Error{Code::usage, "'{' without '}' in \"" + pattern.text_ + "\""};
      const std::string_view inner = text.substr(at + 1, end - at - 1);
      const size_t sign = inner.find_first_of("+-");
      const std::string_view name = inner.substr(0, sign);
      int64_t shift = 0;
      bool good = is_word(name) && ++captures <= kMaxCaptures;
      if (good && sign != std::string_view::npos) {
        const auto number = parse_int(inner.substr(sign + 1));
        good = number && *number >= 0 && *number <= 1000000000;
        if (good) shift = inner[sign] == '-' ? -*number : *number;
      }
      if (!good)
        return Error{Code::usage,
                     "{" + std::string(inner) + "} in \"" + pattern.text_ +
                         "\": expected a name, with + or - a number after it, and at most 16 of them"};
      pattern.parts_.push_back({Part::number, std::string(name), shift});
      at = end + 1;
    } else {
      const size_t end = std::min(text.find_first_of("*?{", at), text.size());
      pattern.parts_.push_back({Part::literal, std::string(text.substr(at, end - at)), 0});
      at = end;
    }
  }
  return pattern;
}

std::optional<Captures> NamePattern::match(std::string_view name) const {
  if (!name.starts_with(prefix())) return std::nullopt;
  Captures captures;
  int64_t steps = kMaxSteps;
  if (!match_from(0, name, captures, steps)) return std::nullopt;
  return captures;
}

// Recursion is as deep as the pattern has parts; steps bounds the trials. A number takes all digits there
// are.
bool NamePattern::match_from(size_t part, std::string_view name, Captures& captures, int64_t& steps) const {
  if (--steps < 0) return false;
  if (part == parts_.size()) return name.empty();
  const Part& p = parts_[part];
  switch (p.kind) {
    case Part::literal:
      return name.starts_with(p.text) && match_from(part + 1, name.substr(p.text.size()), captures, steps);
    case Part::one:
      return !name.empty() && match_from(part + 1, name.substr(1), captures, steps);
    case Part::any:
      for (size_t skip = 0; skip <= name.size(); ++skip) {
        Captures trial = captures;
        if (match_from(part + 1, name.substr(skip), trial, steps)) {
          captures = std::move(trial);
          return true;
        }
      }
      return false;
    case Part::number:
      break;
  }
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  const auto number = parse_int(name.substr(0, digits));
  if (!number) return false;
  const int64_t value = *number - p.shift;
  const auto [known, added] = captures.emplace(p.text, value);
  if (!added && known->second != value) return false;
  return match_from(part + 1, name.substr(digits), captures, steps);
}

std::optional<NamePattern> NamePattern::with(const Captures& captures) const {
  NamePattern out;
  for (const Part& part : parts_) {
    Part next = part;
    if (part.kind == Part::number) {
      const auto found = captures.find(part.text);
      int64_t value = 0;
      if (found == captures.end() || __builtin_add_overflow(found->second, part.shift, &value) || value < 0)
        return std::nullopt;
      next = {Part::literal, std::to_string(value), 0};
    }
    out.text_ += next.kind == Part::any ? "*" : next.kind == Part::one ? "?" : next.text;
    if (next.kind == Part::literal && !out.parts_.empty() && out.parts_.back().kind == Part::literal)
      out.parts_.back().text += next.text;
    else
      out.parts_.push_back(std::move(next));
  }
  return out;
}

std::vector<std::string> NamePattern::capture_names() const {
  std::vector<std::string> names;
  for (const Part& part : parts_)
    if (part.kind == Part::number) names.push_back(part.text);
  return names;
}

bool NamePattern::is_plain() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.kind == Part::literal; });
}

std::string_view NamePattern::prefix() const {
  if (parts_.empty() || parts_[0].kind != Part::literal) return {};
  return parts_[0].text;
}

}  // namespace ulpscope
