// Writes every report of the hostile sample result into a folder: what check_readers.py reads.
#include <cstdio>

#include "report/writer.hpp"
#include "report/xlsx.hpp"
#include "sample_report.hpp"

int main(int argc, char** argv) {
  using namespace ulpscope;
  if (argc != 2) return 2;
  const StoredResult result = test::hostile_result();
  const StoredView view(result);
  ReportRequest request;
  request.formats = {ReportFormat::json,     ReportFormat::csv,    ReportFormat::xlsx,
                     ReportFormat::markdown, ReportFormat::sqlite, ReportFormat::junit};
  const auto written = write_reports(view, request, argv[1]);
  // Two rows a sheet: five rows need three sheets.
  const Status parts = write_xlsx(view, std::string(argv[1]) + "/parts.xlsx", 2);
  if (written.ok() && parts.ok()) return 0;
  std::fprintf(stderr, "%s\n", (written.ok() ? parts.error() : written.error()).message.c_str());
  return 1;
}
