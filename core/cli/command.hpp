// What a command of the program is: its texts for the help, its options, and its run. One file of this folder
// holds one command and the function that makes it (commands.hpp); nothing here parses or prints.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"

namespace ulpscope {

class Context;

// The process exit codes of the program.
enum class ExitCode : int {
  success = 0,     // everything that was asked for was done, nothing failed
  finding = 1,     // at least one failure, overflow or error was found
  usage = 2,       // a wrong option or configuration: nothing was run
  unreadable = 3,  // input missing, unreadable or in part unreadable
  internal = 4,    // a bug, or a plugin that broke its contract
  interrupted = 130,
};

// The exit code for an error that ended a command.
ExitCode exit_code(Code code);

// Where a command stands in the help of the program.
// hidden: the program calls it itself; no help names it.
enum class CommandGroup { compare, look, results, incident, extend, hidden };
std::string_view to_text(CommandGroup group);

struct CommandInfo {
  std::string name;
  std::vector<std::string> aliases;  // names of the peer's commands
  CommandGroup group = CommandGroup::compare;
  std::string summary;      // one line of at most 58 columns, no full stop
  std::string synopsis;     // what follows the name: "DUMP [--filter GLOB]"
  std::string description;  // paragraphs for its help, wrapped when printed; may be empty
  std::string example;      // one full command line
  size_t max_positional = 0;
  bool writes_output = false;  // -o and --exact-output belong to it
};

class Command {
 public:
  virtual ~Command() = default;
  // Constant during the life of the command.
  virtual CommandInfo info() const = 0;
  // Its own options; those of every command are added by the frame, and give way where names collide.
  virtual std::vector<OptionSpec> options() const { return {}; }
  // Does the work. stdout (context.out()) carries the answer. An error becomes a message on stderr and the
  // exit code of its code. Called once, from the main thread.
  virtual Result<ExitCode> run(Context& context) = 0;
};

}  // namespace ulpscope
