// Loading of one plugin file. Nothing of the file runs before its marker section was seen; a library that was
// loaded stays loaded until the process ends, because objects, texts and threads of a plugin may be in use
// until then.
#pragma once

#include <ulpscope/abi.h>

#include <string>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// Whether the file is an ELF library with the section "ulpscope_plugin". format: "not a loadable library" or
// "not a plugin: no ulpscope_plugin section". Runs no code of the file. Any thread.
Status check_marker(const std::string& path);

// Checks the marker, loads the file and finds its entry. format with the loader's words when it cannot be
// loaded or has no entry. Trust in the file is the caller's question (trust.hpp). Any thread.
Result<ulpscope_plugin_entry_fn> load_library(const std::string& path);

// The one symbol that a plugin exports.
constexpr const char* kPluginEntry = "ulpscope_plugin_entry";

// The names that the file exports, sorted. format: it is no loadable library. Runs no code of the file. Any
// thread.
Result<std::vector<std::string>> exported_symbols(const std::string& path);

// The folder in which the running program lies. io when the system does not say. Any thread.
Result<std::string> program_folder();

}  // namespace ulpscope
