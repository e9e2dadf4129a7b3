// A JSON file of a bundle: any bytes give a value, or an error that says where.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config_check/config_value.hpp"

using namespace ulpscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto value = parse_config_json({reinterpret_cast<const char*>(data), size}, "config.json");
  if (!value.ok() && value.error().message.find("config.json") == std::string::npos) std::abort();
  return 0;
}
