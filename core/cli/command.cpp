#include "cli/command.hpp"

namespace ulpscope {

ExitCode exit_code(Code code) {
  switch (code) {
    case Code::usage:
      return ExitCode::usage;
    case Code::io:
    case Code::format:
    case Code::unsupported:
      return ExitCode::unreadable;
    case Code::cancelled:
      return ExitCode::interrupted;
    case Code::no_memory:
    case Code::internal:
      break;
  }
  return ExitCode::internal;
}

std::string_view to_text(CommandGroup group) {
  switch (group) {
    case CommandGroup::compare:
      return "compare and judge";
    case CommandGroup::look:
      return "look into a dump";
    case CommandGroup::results:
      return "work with results";
    case CommandGroup::incident:
      return "from a wrong answer to a dump";
    case CommandGroup::extend:
    case CommandGroup::hidden:
      break;
  }
  return "the program itself";
}

}  // namespace ulpscope
