#include "plugin/plugin_info.hpp"

namespace ulpscope {
namespace {

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

template <class Desc>
ComponentInfo describe(ComponentKind kind, const Desc& desc) {
  ComponentInfo info;
  info.kind = kind;
  info.name = desc.name;
  info.summary = desc.summary;
  for (uint32_t i = 0; i < desc.option_count; ++i) {
    const ulpscope_option_desc& option = desc.options[i];
    info.options.push_back({option.name, text_or_empty(option.type), text_or_empty(option.default_text),
                            text_or_empty(option.doc)});
  }
  return info;
}

}  // namespace

std::string_view to_text(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::source:
      return "source";
    case ComponentKind::judgement:
      return "judgement";
    case ComponentKind::executor:
      return "executor";
  }
  return "source";
}

PluginInfo describe(const PluginTables& tables) {
  PluginInfo info;
  info.name = tables.name;
  info.version = tables.version;
  info.vendor = tables.vendor;
  info.license = tables.license;
  info.build = tables.build;
  info.abi = std::to_string(tables.abi_major) + "." + std::to_string(tables.abi_minor);
  for (const auto& desc : tables.sources) info.components.push_back(describe(ComponentKind::source, desc));
  for (const auto& desc : tables.judgements) {
    ComponentInfo component = describe(ComponentKind::judgement, desc);
    for (uint32_t i = 0; i < desc.metric_count; ++i)
      component.metrics.push_back(
          {desc.metrics[i].name, text_or_empty(desc.metrics[i].doc), desc.metrics[i].better});
    component.needs_reference = desc.needs_reference;
    info.components.push_back(std::move(component));
  }
  for (const auto& desc : tables.executors)
    info.components.push_back(describe(ComponentKind::executor, desc));
  return info;
}

}  // namespace ulpscope
