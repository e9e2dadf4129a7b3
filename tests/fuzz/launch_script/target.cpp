// A launch script: any text gives the words of a command, or none.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config_check/launch_script.hpp"

using namespace ulpscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view script(reinterpret_cast<const char*>(data), size);
  const LaunchCommand command = parse_launch(script, {{"HOME", "/root"}, {"A", "$A"}});
  if (command.found && command.words.empty()) std::abort();
  return 0;
}
