// The help texts: of the program (commands by group) and of one command (usage, options, one example). 80
// columns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace ulpscope {

using CommandList = std::vector<std::unique_ptr<Command>>;

std::string program_help(const CommandList& commands);
// own: the options of the command; common: those of every command.
std::string command_help(const CommandInfo& info, const std::vector<OptionSpec>& own,
                         const std::vector<OptionSpec>& common);

}  // namespace ulpscope
