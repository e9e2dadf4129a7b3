// What may stand behind an option, and behind the name of a command, where that is one of a few words: what
// the shells offer. The commands check what they are given themselves; a test holds the two together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ulpscope {

struct OptionValues {
  std::vector<std::string> words;
  std::string_view component;  // "source", "judgement", "executor": names of plugins, asked for when needed
  bool is_list = false;        // several, with commas between
  bool empty() const { return words.empty() && component.empty(); }
};

// Of an option by its name as in the tables of options ("log_format"); empty where any text may follow.
OptionValues option_values(std::string_view command, std::string_view option);

// The words that may follow the name of a command; empty where none does.
std::vector<std::string> second_words(std::string_view command);

}  // namespace ulpscope
