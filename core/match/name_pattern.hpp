// Patterns of the mapping file: op names with '*' (any run), '?' (any one byte) and {n} (a decimal number,
// remembered under that name; {n+2} and {n-2} the number plus or minus a constant). Used by the mapping only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// Numbers by the names of their captures.
using Captures = std::map<std::string, int64_t, std::less<>>;

class NamePattern {
 public:
  // usage: an unclosed or unknown {…}, or more than 16 of them.
  static Result<NamePattern> parse(std::string_view text);

  const std::string& text() const { return text_; }
  // The captures when the whole name fits; each capture name stands for one number wherever it occurs. {n+2}
  // in a pattern that is matched takes a number and remembers it minus 2.
  std::optional<Captures> match(std::string_view name) const;
  // The pattern with its captures put in, without any left; nothing when one is unknown, or a number below 0
  // or beyond 64 bits comes out.
  std::optional<NamePattern> with(const Captures& captures) const;
  // Names of its captures.
  std::vector<std::string> capture_names() const;
  // Without '*', '?' and captures: a name.
  bool is_plain() const;
  // What every name that fits begins with.
  std::string_view prefix() const;

 private:
  struct Part {
    enum Kind : uint8_t { literal, any, one, number } kind = literal;
    std::string text;   // literal: the bytes; number: the name of the capture
    int64_t shift = 0;  // number: what is added to it
  };
  bool match_from(size_t part, std::string_view name, Captures& captures, int64_t& steps) const;

  std::string text_;
  std::vector<Part> parts_;
};

}  // namespace ulpscope
