#include "plugin/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "plugin/library.hpp"
#include "plugin/options.hpp"
#include "plugin/running_call.hpp"
#include "plugin/source_choice.hpp"
#include "plugin/table_checks.hpp"
#include "plugin/trust.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kFileEnd = ".plugin.so";

std::string owner_text(const PluginInfo& info) { return info.builtin ? "the program" : info.file; }

// Paths of the plugin files of a folder, by name; empty when there is no such folder.
std::vector<std::string> plugin_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    std::string name = entry->path().filename().string();
    if (name.size() > kFileEnd.size() && name.ends_with(kFileEnd)) files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void remember_files(const PluginTables& tables, const std::string& file) {
  for (const auto& desc : tables.sources) remember_file(desc.name, file);
  for (const auto& desc : tables.judgements) remember_file(desc.name, file);
  for (const auto& desc : tables.executors) remember_file(desc.name, file);
}

}  // namespace

Registry::Registry(PluginSearch search, const HostServices& host, Diagnostics& diagnostics)
    : search_(std::move(search)), host_(host), diagnostics_(diagnostics) {
  for (const BuiltinPlugin& plugin : search_.builtin) {
    const auto table = call_entry(plugin.entry);
    auto tables = table.ok() ? check_tables(**table) : Result<PluginTables>(table.error());
    if (tables.ok()) {
      add(std::move(tables).value(), plugin.name, true);
    } else {
      // Reported through plugins() and the diagnostics like any other.
      static_cast<void>(refuse(plugin.name, true, std::move(tables).error()));
    }
  }
}

template <class Desc>
void Registry::keep(std::vector<Desc>& from, std::deque<Desc>& to, PluginInfo& info, ComponentKind kind) {
  for (Desc& desc : from) {
    const std::string_view name = desc.name;
    const auto is_it = [&](const ComponentInfo& c) {
      return c.kind == kind && c.name == name && c.hidden_by.empty();
    };
    const PluginInfo* owner = nullptr;
    for (const PluginInfo& other : plugins_)
      if (std::any_of(other.components.begin(), other.components.end(), is_it)) owner = &other;
    const auto taken = [&](const Desc& other) { return name == other.name; };
    if (std::none_of(to.begin(), to.end(), taken)) {
      to.push_back(desc);
      continue;
    }
    // Twice within one plugin: the last of the equal ones in info is the one that loses.
    const std::string winner = owner != nullptr ? owner_text(*owner) : owner_text(info);
    const auto loser = std::find_if(info.components.rbegin(), info.components.rend(), is_it);
    if (loser != info.components.rend()) loser->hidden_by = winner;
    diagnostics_.add({Severity::warning, Code::usage, owner_text(info),
                      std::string(to_text(kind)) + " '" + std::string(name) + "' is not used, " + winner +
                          " has one of the same name"});
  }
}

void Registry::add(PluginTables tables, const std::string& file, bool builtin) {
  PluginInfo info = describe(tables);
  info.builtin = builtin;
  if (!builtin) {
    info.file = file;
    remember_files(tables, file);
  }
  for (const std::string& note : tables.notes)
    diagnostics_.add({Severity::notice, Code::unsupported, owner_text(info), note});
  keep(tables.sources, sources_, info, ComponentKind::source);
  keep(tables.judgements, judgements_, info, ComponentKind::judgement);
  keep(tables.executors, executors_, info, ComponentKind::executor);
  plugins_.push_back(std::move(info));
}

Status Registry::refuse(const std::string& file, bool builtin, Error error) {
  PluginInfo info;
  info.builtin = builtin;
  (builtin ? info.name : info.file) = file;
  info.refused = error.message;
  plugins_.push_back(std::move(info));
  diagnostics_.add(Severity::warning, error, file);
  return error;
}

Status Registry::check_places(const std::string& folder, const std::string& file) {
  Status status = check_trust(folder);
  if (status.ok()) status = check_plugin_trust(file);
  // Only a refusal can be lifted, not a place that cannot be looked at.
  if (status.ok() || !search_.allow_unsafe || status.error().code != Code::usage) return status;
  diagnostics_.add({Severity::warning, Code::usage, file,
                    status.error().message + ", loaded all the same (--allow-unsafe-plugins)"});
  return {};
}

Status Registry::load_trusted(const std::string& file) {
  const CallMark mark({{"plugin", file.c_str()}, "its loading"});
  ULPSCOPE_ASSIGN(const ulpscope_plugin_entry_fn entry, load_library(file));
  ULPSCOPE_ASSIGN(const ulpscope_plugin* plugin, call_entry(entry));
  ULPSCOPE_ASSIGN(PluginTables tables, check_tables(*plugin));
  add(std::move(tables), file, false);
  return {};
}

Status Registry::load_file(const std::string& folder, const std::string& path) {
  auto file = canonical_path(path);
  if (!file.ok()) {
    if (!seen_files_.insert(path).second) return {};
    return refuse(path, false, std::move(file).error());
  }
  if (!seen_files_.insert(*file).second) return {};
  Status status = check_places(folder, *file);
  if (status.ok()) status = load_trusted(*file);
  return status.ok() ? Status() : refuse(*file, false, std::move(status).error());
}

Status Registry::load(const std::string& file) {
  const size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : file.substr(0, slash);
  return load_file(folder, file);
}

void Registry::load_by_stem(std::string_view stem) {
  if (all_loaded_ || !is_plugin_name(stem)) return;
  for (const PluginFolder& folder : search_.folders) {
    const std::string path = folder.path + "/" + std::string(stem) + std::string(kFileEnd);
    std::error_code failed;
    if (!std::filesystem::exists(path, failed)) continue;
    // A refusal is on record; a later folder may hold a sound file of the same name.
    if (load_file(folder.path, path).ok()) return;
  }
}

void Registry::load_all() {
  if (std::exchange(all_loaded_, true)) return;
  for (const PluginFolder& folder : search_.folders) {
    std::error_code failed;
    if (folder.origin == "--plugin-path" && !std::filesystem::is_directory(folder.path, failed))
      diagnostics_.add(
          {Severity::warning, Code::usage, folder.path, "--plugin-path: there is no such folder"});
    for (const std::string& path : plugin_files(folder.path)) static_cast<void>(load_file(folder.path, path));
  }
}

std::string Registry::names_of(ComponentKind kind) const {
  std::set<std::string> names;
  for (const PluginInfo& plugin : plugins_)
    for (const ComponentInfo& component : plugin.components)
      if (component.kind == kind) names.insert(component.name);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string Registry::refusal_of(std::string_view stem) const {
  const std::string name = std::string(stem) + std::string(kFileEnd);
  for (const PluginInfo& plugin : plugins_)
    if (!plugin.refused.empty() && (plugin.name == stem || plugin.file.ends_with("/" + name)))
      return "; " + name + " was not loaded: " + plugin.refused;
  return "";
}

template <class Desc>
Result<const Desc*> Registry::find(ComponentKind kind, const std::deque<Desc>& components,
                                   std::string_view name) {
  const auto look = [&]() -> const Desc* {
    const auto it =
        std::find_if(components.begin(), components.end(), [&](const Desc& d) { return name == d.name; });
    return it == components.end() ? nullptr : &*it;
  };
  if (const Desc* desc = look()) return desc;
  load_by_stem(name);
  if (const Desc* desc = look()) return desc;
  load_all();
  if (const Desc* desc = look()) return desc;
  const std::string names = names_of(kind);
  const std::string expected = names.empty() ? "there is none at all" : "expected one of " + names;
  return Error{Code::usage, "no " + std::string(to_text(kind)) + " '" + std::string(name) + "', " + expected +
                                refusal_of(name)};
}

Result<std::string> Registry::probe_all(const std::string& path) {
  load_all();
  std::vector<ProbeRow> rows(sources_.size());
  host_.pool().parallel_for(static_cast<int64_t>(rows.size()), [&](int64_t i, int) {
    const ulpscope_source_desc& source = sources_[static_cast<size_t>(i)];
    ProbeAnswer answer = probe(source, host_.table(), path);
    rows[static_cast<size_t>(i)] = {source.name, answer.score, std::move(answer.why)};
  });
  return choose_source(path, std::move(rows));
}

Result<ProbeAnswer> Registry::ask_source(std::string_view name, const std::string& path) {
  ULPSCOPE_ASSIGN(const ulpscope_source_desc* desc, find(ComponentKind::source, sources_, name));
  return probe(*desc, host_.table(), path);
}

Result<SourceHandle> Registry::open_source(std::string_view name_or_auto, const std::string& path,
                                           const std::string& options_json) {
  std::error_code failed;
  if (const auto type = std::filesystem::status(path, failed).type();
      type == std::filesystem::file_type::not_found)
    return Error{Code::io, path + ": no such file or folder"};
  std::string name(name_or_auto);
  if (name.empty() || name == "auto") {
    ULPSCOPE_ASSIGN(name, probe_all(path));
  }
  ULPSCOPE_ASSIGN(const ulpscope_source_desc* desc, find(ComponentKind::source, sources_, name));
  ULPSCOPE_ASSIGN(const ComponentOptions options,
                  options_for(options_json, std::span(desc->options, desc->option_count)));
  for (const std::string& dropped : options.dropped)
    host_.log(LogLevel::debug, "source '" + name + "' does not know option '" + dropped + "', left out");
  return SourceHandle::open(*desc, host_.table(), path, options.json);
}

Result<const ulpscope_judgement_desc*> Registry::judgement(std::string_view name) {
  return find(ComponentKind::judgement, judgements_, name);
}

Result<JudgementHandle> Registry::create_judgement(std::string_view name, const std::string& options_json) {
  ULPSCOPE_ASSIGN(const ulpscope_judgement_desc* desc, judgement(name));
  return JudgementHandle::create(*desc, host_.table(), options_json.empty() ? "{}" : options_json);
}

Result<ExecutorHandle> Registry::create_executor(std::string_view name, const std::string& options_json) {
  ULPSCOPE_ASSIGN(const ulpscope_executor_desc* desc, find(ComponentKind::executor, executors_, name));
  return ExecutorHandle::create(*desc, host_.table(), options_json.empty() ? "{}" : options_json);
}

const std::vector<PluginInfo>& Registry::plugins() {
  load_all();
  return plugins_;
}

}  // namespace ulpscope
