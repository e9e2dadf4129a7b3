// What a check of the conformance kit is: a stable id, what it asks of a plugin, and a function that looks
// and reports. Checks run one by one in processes of their own (child_process.hpp), so that a plugin that
// crashes, hangs or ends the process is a finding and not the end of the kit.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/table_checks.hpp"

namespace ulpscope {

enum class FindingLevel : int { note, warning, error };
std::string_view to_text(FindingLevel level);

struct Finding {
  FindingLevel level = FindingLevel::error;
  std::string check;      // "source.scan_twice"
  std::string component;  // "raw_dir"; empty: the library as a whole
  std::string text;
};

// What is checked.
struct CheckSubject {
  std::string file;                          // of the plugin; empty: it is compiled in
  ulpscope_plugin_entry_fn entry = nullptr;  // of a compiled-in plugin
  std::string sample;                        // a dump that its sources can read; empty: none was given
  const PluginTables* tables = nullptr;      // null: it could not be loaded, which library.load reports
};

// Collects what one check finds.
class CheckFindings {
 public:
  explicit CheckFindings(std::string_view check) : check_(check) {}

  void set_component(std::string_view component) { component_ = component; }
  void error(std::string text) { add(FindingLevel::error, std::move(text)); }
  void warning(std::string text) { add(FindingLevel::warning, std::move(text)); }
  void note(std::string text) { add(FindingLevel::note, std::move(text)); }
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  // One broken rule shows itself in many places: the first ones are enough.
  static constexpr size_t kMostFindings = 20;
  void add(FindingLevel level, std::string text) {
    if (findings_.size() < kMostFindings) findings_.push_back({level, check_, component_, std::move(text)});
  }

  std::string check_, component_;
  std::vector<Finding> findings_;
};

enum class CheckKind : int { library, source, judgement, executor };

struct Check {
  std::string_view id;  // "judgement.chunks"
  CheckKind kind;
  bool needs_sample;
  int limit_seconds;
  std::string_view doc;  // what is asked of the plugin, in one line
  std::function<void(const CheckSubject& subject, CheckFindings& report)> run;
};

// The checks of each kind, in the order in which they run.
std::vector<Check> library_checks();
std::vector<Check> source_checks();
std::vector<Check> source_record_checks();  // parts of source_checks()
std::vector<Check> source_data_checks();
std::vector<Check> judgement_checks();
std::vector<Check> executor_checks();

}  // namespace ulpscope
