#include <ulpscope/abi.h>

#include <stdexcept>

ULPSCOPE_PLUGIN_MARK;
extern "C" ULPSCOPE_EXPORT const ulpscope_plugin* ulpscope_plugin_entry(void);
extern "C" const ulpscope_plugin* ulpscope_plugin_entry(void) { throw std::runtime_error("no table today"); }
