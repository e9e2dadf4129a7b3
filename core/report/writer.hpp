// Writes the reports of a run into its folder: which formats there are, what their files are called. Used by
// compare, merge and report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "report/acl_peer_csv.hpp"
#include "report/html.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

enum class ReportFormat : uint8_t { json, csv, xlsx, html, markdown, sqlite, junit };

// What --format says: "json,csv,xlsx,html,md,sqlite,junit", each once in the order given. usage: another
// word, or none at all.
Result<std::vector<ReportFormat>> parse_formats(std::string_view list);

// Which columns CSV tables have: ours, or exactly those of msprobe.
enum class TableColumns : uint8_t { full, msprobe };
// What --columns says. usage: another word.
Result<TableColumns> parse_columns(std::string_view word);

struct ReportRequest {
  std::vector<ReportFormat> formats = {ReportFormat::json, ReportFormat::csv, ReportFormat::html};
  TableColumns columns = TableColumns::full;
  AclPeerColumns peer_columns;            // of msprobe's table of an offline model
  Language language = Language::english;  // of the page
  std::string version;                    // of the program; used for tables, a stored result keeps its own
  ThreadPool* pool = nullptr;             // workers that format rows; null: this thread alone
  bool keep_existing = false;             // a report that is there is left as it is, and is no error
};

// The file of a format in a result folder: "compare_result.json", "junit.xml".
std::string_view file_name(ReportFormat format);

// Writes each format into folder, which is there; answers the paths in the order of formats. io: a file
// exists (unless keep_existing) or cannot be written; those written before stay. usage: msprobe columns of a
// stored result, which does not hold their numbers. Any thread.
Result<std::vector<std::string>> write_reports(const ReportView& report, const ReportRequest& request,
                                               const std::string& folder);
Result<std::vector<std::string>> write_reports(const ResultTable& table, const ReportRequest& request,
                                               const std::string& folder);

// Whether folder holds every report of the request that has one file.
bool is_complete(const ReportRequest& request, const std::string& folder);
// Whether it holds any of them.
bool has_report(const ReportRequest& request, const std::string& folder);

// Writes one format to path; "-" is the standard output for json, csv, html, md and junit, and usage for the
// others.
Status write_report(const ReportView& report, ReportFormat format, const std::string& path,
                    ThreadPool* pool = nullptr, Language language = Language::english);

}  // namespace ulpscope
