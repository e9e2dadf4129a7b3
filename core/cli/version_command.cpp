#include <ulpscope/abi.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "kernels/kernel_isa.hpp"

namespace ulpscope {
namespace {

class VersionCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "version";
    info.group = CommandGroup::extend;
    info.summary = "Prints the versions of program, plugin interface and kernels";
    info.description =
        "Loads no plugin. The kernel line names the instruction set that measuring uses on this machine; the "
        "environment variable ULPSCOPE_KERNELS forces one.";
    info.example = "ulpscope version";
    return info;
  }

  Result<ExitCode> run(Context& context) override {
    Output& out = context.out();
    out << "ulpscope  " << product_version() << "\n";
    out << "plugins   ABI " << std::to_string(ULPSCOPE_ABI_MAJOR) << "." << std::to_string(ULPSCOPE_ABI_MINOR)
        << "\n";
#if defined(__clang__)
    out << "compiler  clang " << __clang_version__ << "\n";
#else
    out << "compiler  g++ " << __VERSION__ << "\n";
#endif
    out << "kernels   " << kernel_isa() << "\n";
    return ExitCode::success;
  }
};

}  // namespace

std::unique_ptr<Command> make_version_command() { return std::make_unique<VersionCommand>(); }

}  // namespace ulpscope
