// The components that a run may use: finds plugins, loads them when they are needed, answers by name.
// Built-in plugins win over files, an earlier folder over a later one; what loses, and what is refused, is
// reported and never fatal to the rest. One thread; the handles that it makes have their own rules and may
// outlive it.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "plugin/handles.hpp"
#include "plugin/host_services.hpp"
#include "plugin/plugin_info.hpp"
#include "plugin/search.hpp"

namespace ulpscope {

class Registry {
 public:
  // Checks the built-in plugins and loads no file yet. host and diagnostics must outlive the registry, host
  // its handles too.
  Registry(PluginSearch search, const HostServices& host, Diagnostics& diagnostics);
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Opens path with the source of that name, or with the one that is surest of it ("auto" or empty). Options
  // that the source does not list are left out. usage: no such source, or the probing does not decide; io:
  // path does not exist.
  Result<SourceHandle> open_source(std::string_view name_or_auto, const std::string& path,
                                   const std::string& options_json);
  // What the source of that name says of path. usage when there is none of that name.
  Result<ProbeAnswer> ask_source(std::string_view name, const std::string& path);
  // The table of a judgement, valid as long as the registry. usage when there is none of that name.
  Result<const ulpscope_judgement_desc*> judgement(std::string_view name);
  // Options go to the judgement as they are: what it does not know it refuses with usage.
  Result<JudgementHandle> create_judgement(std::string_view name, const std::string& options_json);
  Result<ExecutorHandle> create_executor(std::string_view name, const std::string& options_json);

  // Loads a file that lies outside of the searched folders, as `plugins check` does. The reason when it is
  // refused.
  Status load(const std::string& file);
  // Every plugin, refused files included: compiled in first, then in the order of loading. Loads all.
  const std::vector<PluginInfo>& plugins();
  const PluginSearch& search() const { return search_; }

 private:
  template <class Desc>
  Result<const Desc*> find(ComponentKind kind, const std::deque<Desc>& components, std::string_view name);
  template <class Desc>
  void keep(std::vector<Desc>& from, std::deque<Desc>& to, PluginInfo& info, ComponentKind kind);
  Status load_file(const std::string& folder, const std::string& path);
  Status load_trusted(const std::string& file);
  Status check_places(const std::string& folder, const std::string& file);
  void add(PluginTables tables, const std::string& file, bool builtin);
  Status refuse(const std::string& file, bool builtin, Error error);
  void load_by_stem(std::string_view stem);
  void load_all();
  std::string names_of(ComponentKind kind) const;
  std::string refusal_of(std::string_view stem) const;
  Result<std::string> probe_all(const std::string& path);

  PluginSearch search_;
  const HostServices& host_;
  Diagnostics& diagnostics_;
  std::vector<PluginInfo> plugins_;
  std::deque<ulpscope_source_desc> sources_;  // deques: tables stay where they are
  std::deque<ulpscope_judgement_desc> judgements_;
  std::deque<ulpscope_executor_desc> executors_;
  std::set<std::string, std::less<>> seen_files_;  // canonical; each is tried once
  bool all_loaded_ = false;
};

}  // namespace ulpscope
