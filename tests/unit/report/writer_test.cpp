#include "report/writer.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "report/sqlite.hpp"
#include "report/xlsx.hpp"
#include "sample_report.hpp"
#include "temp_folder.hpp"

namespace ulpscope {

using test::TempFolder;

TEST_CASE("writer: a list of formats, each once, in the order given") {
  const auto formats = parse_formats("md,json,md");
  REQUIRE(formats.ok());
  CHECK(*formats == std::vector{ReportFormat::markdown, ReportFormat::json});
  const auto all = parse_formats("json,csv,xlsx,html,md,sqlite,junit");
  REQUIRE(all.ok());
  CHECK(all->size() == 7);
}

TEST_CASE("writer: a word that is no format is named with those that are") {
  const auto formats = parse_formats("json,pdf");
  REQUIRE_FALSE(formats.ok());
  CHECK(formats.error().code == Code::usage);
  CHECK(formats.error().message ==
        "--format: 'pdf' is not a report format, expected any of json,csv,xlsx,html,md,sqlite,junit");
  CHECK_FALSE(parse_formats("").ok());
  CHECK_FALSE(parse_formats("json,").ok());
}

TEST_CASE("writer: which columns") {
  CHECK(parse_columns("full").value() == TableColumns::full);
  CHECK(parse_columns("msprobe").value() == TableColumns::msprobe);
  const auto other = parse_columns("peer");
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message == "--columns: 'peer' is not a set of columns, expected full or msprobe");
}

TEST_CASE("writer: the reports of a stored result and their paths") {
  const TempFolder folder;
  const StoredResult result = test::matmul_result();
  const auto paths = write_reports(StoredView(result), {}, folder.path());
  REQUIRE(paths.ok());
  CHECK(*paths ==
        std::vector{folder / "compare_result.json", folder / "compare_result.csv", folder / "report.html"});
  CHECK(std::filesystem::exists(paths->at(0)));
  CHECK(std::filesystem::exists(paths->at(1)));
}

TEST_CASE("writer: msprobe columns need the dumps") {
  const TempFolder folder;
  const StoredResult result = test::matmul_result();
  ReportRequest request;
  request.columns = TableColumns::msprobe;
  const auto paths = write_reports(StoredView(result), request, folder.path());
  REQUIRE_FALSE(paths.ok());
  CHECK(paths.error().code == Code::usage);
  CHECK(paths.error().message == "--columns msprobe needs the dumps, expected full for a stored result");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("writer: a workbook or database does not go to the standard output") {
  const StoredResult result = test::matmul_result();
  for (const ReportFormat format : {ReportFormat::xlsx, ReportFormat::sqlite}) {
    CAPTURE(file_name(format));
    const Status status = write_report(StoredView(result), format, "-");
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().message ==
          "a workbook or database cannot be written to the standard output, expected a folder");
  }
}

TEST_CASE("writer: a workbook and a database into a folder that is not there") {
  const TempFolder folder;
  const StoredResult result = test::matmul_result();
  const Status workbook = write_xlsx(StoredView(result), folder / "none/a.xlsx");
  REQUIRE_FALSE(workbook.ok());
  CHECK(workbook.error().code == Code::io);
  CHECK(workbook.error().message ==
        (folder / "none/a.xlsx") + ": cannot be written: No such file or directory");
  const Status database = write_sqlite(StoredView(result), folder / "none/a.sqlite");
  REQUIRE_FALSE(database.ok());
  CHECK(database.error().message ==
        (folder / "none/a.sqlite") + ": cannot be written: No such file or directory");
}

}  // namespace ulpscope
