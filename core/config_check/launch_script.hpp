// The command that starts the engine, out of a launch script: after substitution of variables, with its
// options under one spelling and the environment that the script gives it. Reads the script as text; nothing
// is run, and what only a shell could know ($(…), arithmetic) stays as it is written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config_check/config_value.hpp"
#include "config_check/text_inputs.hpp"

namespace ulpscope {

struct LaunchCommand {
  std::vector<std::string> words;  // of the command, without what it is piped or redirected to
  ConfigValue options;             // an object: names with '_', JSON values as objects
  NamedTexts inline_environment;   // NAME=value before the command: wins over the environment
  NamedTexts exported;             // export NAME=value in the script: fills what the environment lacks
  bool found = false;              // whether the script holds such a command
};

// environment: what $NAME stands for where the script does not set it. Pure.
LaunchCommand parse_launch(std::string_view script, const NamedTexts& environment);

}  // namespace ulpscope
