// The plugins that are compiled into the program. The array is written by the build
// (cmake/BuiltinPlugins.cmake) and given to the Registry by whoever makes one; it is empty when the built-in
// plugins are modules.
#pragma once

#include <ulpscope/abi.h>

#include <string>
#include <vector>

namespace ulpscope {

// One compiled-in plugin: the name that its file would have, and its entry.
struct BuiltinPlugin {
  std::string name;
  ulpscope_plugin_entry_fn entry = nullptr;
};

// Every compiled-in plugin of this build, in the order in which the build lists them. Cannot fail. Any
// thread.
std::vector<BuiltinPlugin> builtin_plugins();

}  // namespace ulpscope
