// What `plugins list`, `show` and `path` say of a plugin: plain text, nothing of the plugin's own memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/table_checks.hpp"

namespace ulpscope {

enum class ComponentKind : int32_t {
  source = ULPSCOPE_SOURCE,
  judgement = ULPSCOPE_JUDGEMENT,
  executor = ULPSCOPE_EXECUTOR
};
std::string_view to_text(ComponentKind kind);

struct OptionInfo {
  std::string name, type, default_text, doc;
};
struct MetricInfo {
  std::string name, doc;
  int32_t better = 0;  // -1 lower, +1 higher, 0 neither
};
struct ComponentInfo {
  ComponentKind kind = ComponentKind::source;
  std::string name, summary;
  std::vector<OptionInfo> options;
  std::vector<MetricInfo> metrics;  // of a judgement
  uint32_t needs_reference = 0;     // of a judgement: 0 never, 1 must have it, 2 judges more with it
  std::string hidden_by;  // not used, because this file (or "the program") has the same name; empty: used
};
struct PluginInfo {
  std::string file;  // empty when compiled in
  bool builtin = false;
  std::string name, version, vendor, license, build, abi;
  std::vector<ComponentInfo> components;
  std::string refused;  // why the file is not used; empty when it is
};

// Everything of checked tables but file, builtin and hidden_by. Components in the order sources, judgements,
// executors.
PluginInfo describe(const PluginTables& tables);

}  // namespace ulpscope
