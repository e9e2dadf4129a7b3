// Options of a command as data, and their values after parsing. Long names take '_' and '-' alike, several
// letters may follow a single dash ("-tp DIR"), negative numbers are values, and no name is guessed from its
// beginning. Used by the frame and by every command; knows no command.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/suggest.hpp"

namespace ulpscope {

enum class OptionKind {
  flag,      // takes no value; may be repeated
  value,     // takes one value and stands once
  optional,  // takes one value or none, and stands once
  many,      // takes one value and may be repeated
  sequence,  // takes one or more values up to the next option
};

struct OptionSpec {
  std::string name;                 // "output_path": '_' inside, no dashes in front
  std::vector<std::string> shorts;  // "o", "tp": what may follow a single dash
  OptionKind kind = OptionKind::flag;
  std::string value_name;  // for the help: "DIR"
  std::string doc;         // for the help, one sentence without a full stop
  bool hidden = false;     // accepted for the sake of old scripts, not in the help
};

// The spelling of the documentation: "output-path" of "output_path".
std::string with_dashes(std::string name);

class ParsedOptions {
 public:
  bool has(std::string_view name) const { return count(name) > 0; }
  // How often the option was given.
  size_t count(std::string_view name) const;
  // Its value; nothing when it was not given.
  std::optional<std::string> text(std::string_view name) const;
  std::string text_or(std::string_view name, std::string_view otherwise) const;
  // All its values in the order given.
  const std::vector<std::string>& all(std::string_view name) const;
  // Its value as an integer within [low, high], otherwise when it was not given. usage: anything else.
  Result<int64_t> integer(std::string_view name, int64_t otherwise, int64_t low, int64_t high) const;
  // Its value as one of the words, the first word when it was not given. usage: another word, with the
  // nearest one.
  Result<std::string> choice(std::string_view name, const std::vector<std::string>& words) const;
  // Its value as a list like "0,2-5"; empty when it was not given. usage: malformed.
  Result<std::vector<int32_t>> numbers(std::string_view name) const;

  const std::vector<std::string>& positional() const { return positional_; }
  // The positional argument of that index. usage: it is missing; name is what the help calls it.
  Result<std::string> required(size_t index, std::string_view name) const;

 private:
  friend Result<ParsedOptions> parse_options(const std::vector<OptionSpec>& specs,
                                             const std::vector<std::string>& arguments,
                                             size_t max_positional);
  std::map<std::string, std::vector<std::string>, std::less<>> values_;  // a flag: one empty text each time
  std::vector<std::string> positional_;
};

// Parses what follows the command. usage: unknown option (with the nearest one), missing or repeated value,
// or more than max_positional other words. Any thread.
Result<ParsedOptions> parse_options(const std::vector<OptionSpec>& specs,
                                    const std::vector<std::string>& arguments, size_t max_positional);

// The option that a word such as "--log-format=json" or "-tp" names; null when it names none. Any thread.
const OptionSpec* find_option(const std::vector<OptionSpec>& specs, std::string_view word);

}  // namespace ulpscope
