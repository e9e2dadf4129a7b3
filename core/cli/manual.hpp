// Pages of the manual (man), made of the same texts as --help: one of the program, one a command. Used when
// the program is built and packaged; it prints nothing itself.
#pragma once

#include <string>
#include <vector>

#include "cli/help.hpp"

namespace ulpscope {

// text as prose of roff: nothing in it acts as a request or an escape.
std::string roff_text(std::string_view text);
// The page of one command: ulpscope-NAME.1. own and common as for command_help.
std::string manual_of_command(const CommandInfo& info, const std::vector<OptionSpec>& own,
                              const std::vector<OptionSpec>& common);
// The page of the program: ulpscope.1. frame is docs/man/ulpscope.1.in, whose comment lines COMMANDS and
// OPTIONS give way to the commands and to the options of every command.
std::string manual_of_program(std::string_view frame, const CommandList& commands,
                              const std::vector<OptionSpec>& common);

}  // namespace ulpscope
