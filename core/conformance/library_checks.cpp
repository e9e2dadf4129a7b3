#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "conformance/check.hpp"
#include "conformance/quiet_watch.hpp"
#include "plugin/library.hpp"

namespace ulpscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLimitSeconds = 20;
constexpr int64_t kMostLoadMilliseconds = 100;

Result<const ulpscope_plugin*> load(const CheckSubject& subject) {
  ULPSCOPE_ASSIGN(const ulpscope_plugin_entry_fn entry, load_library(subject.file));
  return call_entry(entry);
}

void check_marker_section(const CheckSubject& subject, CheckFindings& report) {
  if (const Status status = check_marker(subject.file); !status.ok()) report.error(status.error().message);
}

void check_symbols(const CheckSubject& subject, CheckFindings& report) {
  const auto symbols = exported_symbols(subject.file);
  if (!symbols.ok()) return report.error(symbols.error().message);
  std::string others;
  for (const std::string& symbol : *symbols)
    if (symbol != kPluginEntry) others += (others.empty() ? "" : ", ") + symbol;
  if (std::find(symbols->begin(), symbols->end(), kPluginEntry) == symbols->end())
    report.error("does not export ulpscope_plugin_entry");
  if (!others.empty())
    report.error("exports more than ulpscope_plugin_entry, which clashes with other plugins: " + others);
}

void check_load(const CheckSubject& subject, CheckFindings& report) {
  const auto plugin = load(subject);
  if (!plugin.ok()) return report.error(plugin.error().message);
  const auto tables = check_tables(**plugin);
  if (!tables.ok()) return report.error(tables.error().message);
  for (const std::string& text : tables->notes) report.note(text);
}

void check_entry_twice(const CheckSubject& subject, CheckFindings& report) {
  const auto entry = load_library(subject.file);
  if (!entry.ok()) return;
  const auto first = call_entry(*entry), second = call_entry(*entry);
  if (first.ok() && second.ok() && *first != *second)
    report.error("entry answers another table when called again");
}

bool is_version(std::string_view text) {
  const auto parts = split(text.substr(0, text.find_first_of("-+")), '.');
  return parts.size() == 3 && std::all_of(parts.begin(), parts.end(),
                                          [](std::string_view part) { return parse_int(part).has_value(); });
}

void check_metadata(const CheckSubject& subject, CheckFindings& report) {
  const auto plugin = load(subject);
  if (!plugin.ok()) return;
  const auto tables = check_tables(**plugin);
  if (!tables.ok()) return;
  if (!is_version(tables->version))
    report.warning("version '" + tables->version + "', expected three numbers such as 1.0.0");
  if (tables->license.empty()) report.warning("names no licence");
  if (tables->vendor.empty()) report.warning("names no vendor");
}

void check_load_time(const CheckSubject& subject, CheckFindings& report) {
  const Clock::time_point start = Clock::now();
  if (!load(subject).ok()) return;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
  if (took > kMostLoadMilliseconds)
    report.warning("took " + std::to_string(took) + " ms to load, expected " +
                   std::to_string(kMostLoadMilliseconds) + " at most: every command pays for it");
}

void check_quiet(const CheckSubject& subject, CheckFindings& report) {
  const QuietWatch watch;
  if (!load(subject).ok()) return;
  watch.report("while it is loaded", report);
}

}  // namespace

std::vector<Check> library_checks() {
  constexpr CheckKind kind = CheckKind::library;
  return {
      {"library.marker", kind, false, kLimitSeconds, "carries the section ulpscope_plugin",
       check_marker_section},
      {"library.symbols", kind, false, kLimitSeconds, "exports ulpscope_plugin_entry and nothing else",
       check_symbols},
      {"library.load", kind, false, kLimitSeconds,
       "loads, speaks the ABI of this host, and its tables are whole", check_load},
      {"library.entry_twice", kind, false, kLimitSeconds, "the entry answers the same table each time",
       check_entry_twice},
      {"library.metadata", kind, false, kLimitSeconds, "version, licence and vendor are well formed",
       check_metadata},
      {"library.load_time", kind, false, kLimitSeconds, "loads within 100 ms", check_load_time},
      {"library.quiet", kind, false, kLimitSeconds,
       "loading prints nothing, starts no thread and changes neither locale, folder nor rounding",
       check_quiet},
  };
}

}  // namespace ulpscope
