#include "plugin/table_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>

namespace ulpscope {
namespace {

// A table ends at the earliest after its last required member.
constexpr size_t kLeastPluginSize = offsetof(ulpscope_plugin, extension);
constexpr size_t kLeastSourceSize = offsetof(ulpscope_source_desc, locate);
constexpr size_t kLeastJudgementSize = sizeof(ulpscope_judgement_desc);
constexpr size_t kLeastExecutorSize = sizeof(ulpscope_executor_desc);

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

Error table_error(const std::string& component, const std::string& text) {
  return {Code::format, component + ": " + text};
}

// A copy of a table that is as long as this host knows it; what the plugin's table lacks is null.
template <class Desc>
Desc complete(const void* table, uint32_t struct_size) {
  Desc copy = {};
  std::memcpy(&copy, table, std::min<size_t>(struct_size, sizeof(Desc)));
  copy.struct_size = static_cast<uint32_t>(sizeof(Desc));
  return copy;
}

Status check_options(const std::string& component, uint32_t count, const ulpscope_option_desc* options) {
  if (count > kMaxOptions)
    return table_error(component, "option_count is " + std::to_string(count) + ", expected at most " +
                                      std::to_string(kMaxOptions));
  if (count > 0 && options == nullptr) return table_error(component, "options is missing");
  for (uint32_t i = 0; i < count; ++i)
    if (options[i].name == nullptr || options[i].name[0] == '\0')
      return table_error(component, "option " + std::to_string(i) + " has no name");
  return {};
}

struct Required {
  const char* member;
  bool present;
};

Status check_members(const std::string& component, std::initializer_list<Required> members) {
  for (const Required& required : members)
    if (!required.present) return table_error(component, std::string(required.member) + " is missing");
  return {};
}

// The part that all three kinds of table share: size, name, summary, options. Answers the complete copy.
template <class Desc>
Result<Desc> check_common(const char* kind, uint32_t index, const void* table, size_t least_size) {
  const std::string place = "component " + std::to_string(index) + " (" + kind + ")";
  uint32_t struct_size = 0;
  std::memcpy(&struct_size, table, sizeof(struct_size));
  if (struct_size < least_size)
    return table_error(place, "struct_size is " + std::to_string(struct_size) + ", expected at least " +
                                  std::to_string(least_size));
  const auto desc = complete<Desc>(table, struct_size);
  if (desc.name == nullptr) return table_error(place, "name is missing");
  if (!is_plugin_name(desc.name))
    return table_error(place,
                       std::string("name '") + desc.name + "', expected lower-case letters, digits and '_'");
  const std::string component = std::string(kind) + " '" + desc.name + "'";
  ULPSCOPE_TRY(check_members(component, {{"summary", desc.summary != nullptr}}));
  ULPSCOPE_TRY(check_options(component, desc.option_count, desc.options));
  return desc;
}

Status add_source(uint32_t index, const void* table, PluginTables& out) {
  ULPSCOPE_ASSIGN(const auto desc,
                  check_common<ulpscope_source_desc>("source", index, table, kLeastSourceSize));
  const std::string component = std::string("source '") + desc.name + "'";
  ULPSCOPE_TRY(check_members(component, {{"probe", desc.probe != nullptr},
                                         {"open", desc.open != nullptr},
                                         {"close", desc.close != nullptr},
                                         {"scan", desc.scan != nullptr}}));
  if (desc.stream_open != nullptr)
    ULPSCOPE_TRY(check_members(component, {{"stream_read", desc.stream_read != nullptr},
                                           {"stream_close", desc.stream_close != nullptr}}));
  out.sources.push_back(desc);
  return {};
}

Status add_judgement(uint32_t index, const void* table, PluginTables& out) {
  ULPSCOPE_ASSIGN(const auto desc,
                  check_common<ulpscope_judgement_desc>("judgement", index, table, kLeastJudgementSize));
  const std::string component = std::string("judgement '") + desc.name + "'";
  ULPSCOPE_TRY(check_members(component, {{"create", desc.create != nullptr},
                                         {"destroy", desc.destroy != nullptr},
                                         {"applies", desc.applies != nullptr},
                                         {"begin", desc.begin != nullptr},
                                         {"consume", desc.consume != nullptr},
                                         {"merge", desc.merge != nullptr},
                                         {"finish", desc.finish != nullptr},
                                         {"end", desc.end != nullptr},
                                         {"judge", desc.judge != nullptr}}));
  if (desc.metric_count > kMaxMetrics)
    return table_error(component, "metric_count is " + std::to_string(desc.metric_count) +
                                      ", expected at most " + std::to_string(kMaxMetrics));
  if (desc.metric_count > 0 && desc.metrics == nullptr) return table_error(component, "metrics is missing");
  for (uint32_t i = 0; i < desc.metric_count; ++i)
    if (desc.metrics[i].name == nullptr || desc.metrics[i].name[0] == '\0')
      return table_error(component, "metric " + std::to_string(i) + " has no name");
  if (desc.needs_reference > 2)
    return table_error(component,
                       "needs_reference is " + std::to_string(desc.needs_reference) + ", expected 0, 1 or 2");
  out.judgements.push_back(desc);
  return {};
}

Status add_executor(uint32_t index, const void* table, PluginTables& out) {
  ULPSCOPE_ASSIGN(const auto desc,
                  check_common<ulpscope_executor_desc>("executor", index, table, kLeastExecutorSize));
  const std::string component = std::string("executor '") + desc.name + "'";
  ULPSCOPE_TRY(check_members(component, {{"create", desc.create != nullptr},
                                         {"destroy", desc.destroy != nullptr},
                                         {"supports", desc.supports != nullptr},
                                         {"run", desc.run != nullptr}}));
  out.executors.push_back(desc);
  return {};
}

Status check_version(const ulpscope_plugin& plugin) {
  const std::string major = std::to_string(ULPSCOPE_ABI_MAJOR);
  if (plugin.abi_major != ULPSCOPE_ABI_MAJOR)
    return Error{Code::unsupported,
                 "needs ABI " + std::to_string(plugin.abi_major) + ".x, this host speaks " + major + ".x"};
  if (plugin.struct_size < kLeastPluginSize)
    return table_error("plugin", "struct_size is " + std::to_string(plugin.struct_size) +
                                     ", expected at least " + std::to_string(kLeastPluginSize));
  if (plugin.min_host_minor > ULPSCOPE_ABI_MINOR)
    return Error{Code::unsupported, "needs ABI " + major + "." + std::to_string(plugin.min_host_minor) +
                                        ", this host speaks " + major + "." +
                                        std::to_string(ULPSCOPE_ABI_MINOR)};
  return {};
}

Status add_component(const ulpscope_component& component, uint32_t index, PluginTables& out) {
  const std::string place = "component " + std::to_string(index);
  const bool known = component.kind >= ULPSCOPE_SOURCE && component.kind <= ULPSCOPE_EXECUTOR;
  // A plugin built for a later minor may hold kinds that this host has never heard of: the others still work.
  if (!known && out.abi_minor > ULPSCOPE_ABI_MINOR) {
    out.notes.push_back(place + ": kind " + std::to_string(component.kind) +
                        " is newer than this host, not used");
    return {};
  }
  if (!known) return table_error(place, "kind " + std::to_string(component.kind) + ", expected 1, 2 or 3");
  if (component.desc == nullptr) return table_error(place, "desc is missing");
  if (component.kind == ULPSCOPE_SOURCE) return add_source(index, component.desc, out);
  if (component.kind == ULPSCOPE_JUDGEMENT) return add_judgement(index, component.desc, out);
  return add_executor(index, component.desc, out);
}

}  // namespace

bool is_plugin_name(std::string_view text) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<const ulpscope_plugin*> call_entry(ulpscope_plugin_entry_fn entry) {
  try {
    const ulpscope_plugin* plugin = entry();
    if (plugin == nullptr) return Error{Code::format, "entry returned null"};
    return plugin;
  } catch (const std::exception& e) {
    return Error{Code::format, std::string("entry threw: ") + e.what()};
  } catch (...) {
    return Error{Code::format, "entry threw an exception of unknown type"};
  }
}

Result<PluginTables> check_tables(const ulpscope_plugin& plugin) {
  ULPSCOPE_TRY(check_version(plugin));
  PluginTables out;
  out.abi_major = plugin.abi_major;
  out.abi_minor = plugin.abi_minor;
  ULPSCOPE_TRY(
      check_members("plugin", {{"name", plugin.name != nullptr}, {"version", plugin.version != nullptr}}));
  if (!is_plugin_name(plugin.name))
    return table_error(
        "plugin", std::string("name '") + plugin.name + "', expected lower-case letters, digits and '_'");
  out.name = plugin.name;
  out.version = plugin.version;
  out.vendor = text_or_empty(plugin.vendor);
  out.license = text_or_empty(plugin.license);
  out.build = text_or_empty(plugin.build);
  if (plugin.component_count > kMaxComponents)
    return table_error("plugin", "component_count is " + std::to_string(plugin.component_count) +
                                     ", expected at most " + std::to_string(kMaxComponents));
  ULPSCOPE_TRY(
      check_members("plugin", {{"components", plugin.components != nullptr || plugin.component_count == 0}}));
  for (uint32_t i = 0; i < plugin.component_count; ++i)
    ULPSCOPE_TRY(add_component(plugin.components[i], i, out));
  return out;
}

}  // namespace ulpscope
