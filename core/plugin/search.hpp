// Where plugins are looked for. Never the current folder, and never a path out of a dump, a policy or any
// other data file: data cannot cause code to be loaded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugin/builtin.hpp"

namespace ulpscope {

struct PluginFolder {
  std::string path;
  std::string origin;  // who named it: "--plugin-path", "ULPSCOPE_PLUGIN_PATH", "user", "installation"
};

struct PluginSearch {
  std::vector<PluginFolder> folders;   // in the order in which they are searched
  std::vector<BuiltinPlugin> builtin;  // compiled in; these win
  bool allow_unsafe = false;           // load in spite of a failed trust check, with a warning
};

// The absolute folders of a colon list; relative and empty entries are left out, because they would depend on
// the current folder. Any thread.
std::vector<std::string> absolute_folders(std::string_view colon_list);

// The standard order: given (--plugin-path, in order), ULPSCOPE_PLUGIN_PATH, the user's data folder, the
// installation that the running program belongs to. The environment is ignored under a raised privilege.
PluginSearch standard_search(const std::vector<std::string>& given, std::vector<BuiltinPlugin> builtin,
                             bool allow_unsafe = false);

}  // namespace ulpscope
