#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/manual.hpp"
#include "program_manual.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

Status write_page(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return Error{Code::io, printable(path.string()) + ": cannot be written"};
  return {};
}

// The build calls it: all pages of the manual, as files of a folder.
class ManualCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "manual_pages";
    info.group = CommandGroup::hidden;
    info.summary = "Writes the pages of the manual into a folder";
    info.synopsis = "DIR";
    info.example = "ulpscope manual_pages man1";
    info.max_positional = 1;
    return info;
  }

  Result<ExitCode> run(Context& context) override {
    ULPSCOPE_ASSIGN(const std::string folder, context.options().required(0, "DIR"));
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Error{Code::io, printable(folder) + ": " + error.message()};
    const CommandList commands = make_commands();
    ULPSCOPE_TRY(write_page(fs::path(folder) / "ulpscope.1",
                            manual_of_program(kProgramManual, commands, common_options())));
    for (const auto& command : commands) {
      const CommandInfo info = command->info();
      if (info.group == CommandGroup::hidden) continue;
      const std::vector<OptionSpec> own = command->options();
      ULPSCOPE_TRY(write_page(fs::path(folder) / ("ulpscope-" + info.name + ".1"),
                              manual_of_command(info, own, remaining_common(own, info.writes_output))));
      for (const std::string& alias : info.aliases)
        ULPSCOPE_TRY(write_page(fs::path(folder) / ("ulpscope-" + alias + ".1"),
                                ".so man1/ulpscope-" + info.name + ".1\n"));
    }
    return ExitCode::success;
  }
};

}  // namespace

std::unique_ptr<Command> make_manual_command() { return std::make_unique<ManualCommand>(); }

}  // namespace ulpscope
