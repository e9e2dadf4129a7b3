// Values as Python prints them, out of logs: nothing is evaluated, and reading stays inside of the text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config_check/python_print.hpp"
#include "outputs/python_repr.hpp"

using namespace ulpscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  size_t end = 0;
  (void)parse_python_fields(text, &end);
  if (end > size) std::abort();
  (void)parse_python_value(text, &end);
  if (end > size) std::abort();
  (void)json_of_repr(text);
  return 0;
}
