// The simple commands of a shell script as words, after substitution of the variables that the script sets.
// Used by the reader of launch scripts. Knows quotes, escapes, continuation, comments, arrays,
// ${NAME:-default}, pipes, redirections and lists; knows no control flow, so every branch counts, and runs
// nothing.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config_check/text_inputs.hpp"

namespace ulpscope {

using ShellCommand = std::vector<std::string>;

// What a script leaves behind: variables (an array has several words), and which of them are exported.
struct ShellState {
  std::map<std::string, ShellCommand, std::less<>> variables;
  NamedTexts exported;
};

// NAME and VALUE of a word NAME=VALUE; an empty name when it is none.
std::pair<std::string, std::string> assignment_of(std::string_view word);

// Calls take for each simple command, in order; state is what was assigned before it. Commands that only
// assign or export change the state and are not given.
void for_each_shell_command(std::string_view script, const NamedTexts& environment,
                            const std::function<void(const ShellCommand&, const ShellState&)>& take);

}  // namespace ulpscope
