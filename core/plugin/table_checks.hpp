// What the host checks of a plugin's tables before it uses them, compiled in or loaded. After the checks the
// host works on complete copies of the component tables: members that an older plugin's shorter table lacks
// are null there, so that nobody else needs to look at struct_size.
#pragma once

#include <ulpscope/abi.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// Limits of a table that makes sense; beyond them it is taken as damaged.
constexpr uint32_t kMaxComponents = 256;
constexpr uint32_t kMaxOptions = 1024;
constexpr uint32_t kMaxMetrics = 256;

// The components of one plugin, complete copies. Names and texts point into the plugin, which stays loaded
// for ever.
struct PluginTables {
  std::string name, version, vendor, license, build;
  uint32_t abi_major = 0, abi_minor = 0;
  std::vector<ulpscope_source_desc> sources;
  std::vector<ulpscope_judgement_desc> judgements;
  std::vector<ulpscope_executor_desc> executors;
  std::vector<std::string> notes;  // what was left out, each with its reason
};

// Whether text is a name of a plugin or component: [a-z][a-z0-9_]*.
bool is_plugin_name(std::string_view text);

// Calls the entry; an Error when it throws or answers null.
Result<const ulpscope_plugin*> call_entry(ulpscope_plugin_entry_fn entry);

// Checks version and tables. unsupported: the ABI versions do not fit; format: a table breaks the contract,
// the message names component and member. Calls nothing of the plugin. Any thread.
Result<PluginTables> check_tables(const ulpscope_plugin& plugin);

}  // namespace ulpscope
