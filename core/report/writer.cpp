#include "report/writer.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "base/text.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/junit.hpp"
#include "report/markdown.hpp"
#include "report/peer_csv.hpp"
#include "report/sqlite.hpp"
#include "report/table_view.hpp"
#include "report/xlsx.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kExpected = "expected any of json,csv,xlsx,html,md,sqlite,junit";

struct FormatEntry {
  ReportFormat format;
  std::string_view word, file;
};
constexpr std::array<FormatEntry, 7> kFormats = {{{ReportFormat::json, "json", "compare_result.json"},
                                                  {ReportFormat::csv, "csv", "compare_result.csv"},
                                                  {ReportFormat::xlsx, "xlsx", "compare_result.xlsx"},
                                                  {ReportFormat::html, "html", "report.html"},
                                                  {ReportFormat::markdown, "md", "compare_result.md"},
                                                  {ReportFormat::sqlite, "sqlite", "compare_result.sqlite"},
                                                  {ReportFormat::junit, "junit", "junit.xml"}}};

std::string in_folder(const std::string& folder, std::string_view name) {
  return folder.empty() || folder.back() == '/' ? folder + std::string(name)
                                                : folder + "/" + std::string(name);
}

// Writes one report of a request into folder and answers its path.
Result<std::string> write_one(const ReportView& report, ReportFormat format, const ReportRequest& request,
                              const std::string& folder) {
  std::string path = in_folder(folder, file_name(format));
  std::error_code ignored;
  if (request.keep_existing && std::filesystem::exists(path, ignored)) return path;
  ULPSCOPE_TRY(write_report(report, format, path, request.pool, request.language));
  return path;
}

}  // namespace

Result<std::vector<ReportFormat>> parse_formats(std::string_view list) {
  std::vector<ReportFormat> formats;
  for (const std::string_view word : split(list, ',')) {
    const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                    [&](const FormatEntry& entry) { return entry.word == word; });
    if (found == kFormats.end())
      return Error{Code::usage,
                   "--format: '" + printable(word) + "' is not a report format, " + std::string(kExpected)};
    if (std::find(formats.begin(), formats.end(), found->format) == formats.end())
      formats.push_back(found->format);
  }
  return formats;
}

Result<TableColumns> parse_columns(std::string_view word) {
  if (word == "full") return TableColumns::full;
  if (word == "msprobe") return TableColumns::msprobe;
  return Error{Code::usage,
               "--columns: '" + printable(word) + "' is not a set of columns, expected full or msprobe"};
}

std::string_view file_name(ReportFormat format) {
  for (const FormatEntry& entry : kFormats)
    if (entry.format == format) return entry.file;
  return {};
}

bool is_complete(const ReportRequest& request, const std::string& folder) {
  return std::all_of(request.formats.begin(), request.formats.end(), [&](ReportFormat format) {
    std::error_code ignored;
    const bool has_one_file = format != ReportFormat::csv || request.columns == TableColumns::full;
    return !has_one_file || std::filesystem::exists(in_folder(folder, file_name(format)), ignored);
  });
}

bool has_report(const ReportRequest& request, const std::string& folder) {
  return std::any_of(request.formats.begin(), request.formats.end(), [&](ReportFormat format) {
    std::error_code ignored;
    return std::filesystem::exists(in_folder(folder, file_name(format)), ignored);
  });
}

Status write_report(const ReportView& report, ReportFormat format, const std::string& path, ThreadPool* pool,
                    Language language) {
  if (path == "-" && (format == ReportFormat::xlsx || format == ReportFormat::sqlite))
    return Error{Code::usage,
                 "a workbook or database cannot be written to the standard output, expected a folder"};
  switch (format) {
    case ReportFormat::json:
      return write_json(report, path, pool);
    case ReportFormat::csv:
      return write_csv(report, path, pool);
    case ReportFormat::xlsx:
      return write_xlsx(report, path);
    case ReportFormat::html:
      return write_html(report, path, {.language = language}, pool);
    case ReportFormat::markdown:
      return write_markdown(report, path);
    case ReportFormat::sqlite:
      return write_sqlite(report, path, pool);
    case ReportFormat::junit:
      return write_junit(report, path);
  }
  return Error{Code::internal, "a report format without a writer"};
}

Result<std::vector<std::string>> write_reports(const ReportView& report, const ReportRequest& request,
                                               const std::string& folder) {
  const bool has_csv =
      std::find(request.formats.begin(), request.formats.end(), ReportFormat::csv) != request.formats.end();
  if (has_csv && request.columns == TableColumns::msprobe)
    return Error{Code::usage, "--columns msprobe needs the dumps, expected full for a stored result"};
  std::vector<std::string> paths;
  for (const ReportFormat format : request.formats) {
    ULPSCOPE_ASSIGN(std::string path, write_one(report, format, request, folder));
    paths.push_back(std::move(path));
  }
  return paths;
}

Result<std::vector<std::string>> write_reports(const ResultTable& table, const ReportRequest& request,
                                               const std::string& folder) {
  const TableView view(table, request.version);
  if (request.columns == TableColumns::full) return write_reports(view, request, folder);
  std::vector<std::string> paths;
  for (const ReportFormat format : request.formats) {
    if (format == ReportFormat::csv) {
      ULPSCOPE_ASSIGN(const std::vector<std::string> tables,
                      write_peer_tables(table, folder, request.peer_columns));
      paths.insert(paths.end(), tables.begin(), tables.end());
      continue;
    }
    ULPSCOPE_ASSIGN(std::string path, write_one(view, format, request, folder));
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace ulpscope
