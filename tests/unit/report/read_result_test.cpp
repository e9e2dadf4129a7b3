#include "report/read_result.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "read_file.hpp"
#include "report/json.hpp"
#include "sample_report.hpp"
#include "temp_folder.hpp"

namespace ulpscope {
namespace {

using test::TempFolder;

// The message of reading text, without the path in front; empty when it is read.
std::string refusal(const std::string& text, const ReadLimits& limits = {}) {
  const TempFolder folder;
  const std::string path = folder.write("compare_result.json", text);
  const auto result = read_result(path, limits);
  if (result.ok()) return "";
  CHECK(result.error().code == Code::format);
  return result.error().message.substr(path.size() + 2);
}

std::string with_rows(const std::string& rows) {
  return R"({"schema": "ulpscope.compare/1", "rows": [)" + rows + "]}";
}

}  // namespace

TEST_CASE("read result: what is written again is the same file") {
  for (const StoredResult& result : {test::matmul_result(), test::hostile_result(), test::empty_result()}) {
    const TempFolder folder;
    REQUIRE(write_json(StoredView(result), folder / "first.json").ok());
    const auto read = read_result(folder / "first.json");
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    REQUIRE(write_json(StoredView(*read), folder / "second.json").ok());
    CHECK(test::read_file(folder / "first.json") == test::read_file(folder / "second.json"));
  }
}

TEST_CASE("read result: rows, metrics and the culprit's row") {
  const TempFolder folder;
  REQUIRE(write_json(StoredView(test::matmul_result()), folder / "a.json").ok());
  const auto read = read_result(folder / "a.json");
  REQUIRE(read.ok());
  REQUIRE(read->rows.size() == 3);
  CHECK(read->rows[2].target.item == "output.0");
  CHECK(read->rows[2].golden.shape == std::vector<int64_t>{2, 5, 5});
  CHECK(read->rows[2].op_pair == 0);
  CHECK(read->head.localisation.culprits.at(0).row == 2);
  RowView row;
  StoredView(*read).read_row(2, row);
  CHECK(row.metrics[test::metric_index("max_abs_err")] == 0.0297);
  CHECK_FALSE(row.metrics[test::metric_index("rmse")].has_value());
}

TEST_CASE("read result: metrics that are no numbers in JSON") {
  const TempFolder folder;
  REQUIRE(write_json(StoredView(test::hostile_result()), folder / "a.json").ok());
  const auto read = read_result(folder / "a.json");
  REQUIRE(read.ok());
  RowView row;
  StoredView(*read).read_row(0, row);
  CHECK(std::isnan(row.metrics[test::metric_index("max_abs_err")].value()));
  CHECK(row.metrics[test::metric_index("rmse")].value() == -INFINITY);
  CHECK(std::signbit(row.metrics[test::metric_index("golden_min")].value()));
  CHECK(read->rows[3].op_pair == 3);
  CHECK(read->rows[3].step == -1);
}

TEST_CASE("read result: rows of neighbouring calls are told apart by op, step and rank") {
  const std::string row =
      R"({"step": %, "op": "a", "golden_op": "a", "tensor": "input.0", "golden_tensor": "input.0",
                              "dtype": ["int", "int"]})";
  const auto at_step = [&](const char* step) { return std::string(row).replace(row.find('%'), 1, step); };
  const TempFolder folder;
  const std::string path =
      folder.write("a.json", with_rows(at_step("0") + "," + at_step("0") + "," + at_step("1")));
  const auto read = read_result(path);
  REQUIRE(read.ok());
  CHECK(read->rows[1].op_pair == read->rows[0].op_pair);
  CHECK(read->rows[2].op_pair == read->rows[1].op_pair + 1);
}

TEST_CASE("read result: another schema, or no JSON") {
  CHECK(refusal("{}") == "schema: '', expected ulpscope.compare/1");
  CHECK(refusal(R"({"schema": "ulpscope.compare/2"})") ==
        "schema: 'ulpscope.compare/2', expected ulpscope.compare/1");
  CHECK(refusal("[]") == "the whole: expected an object");
  CHECK(refusal("{\"schema\": ").find("not a result: ") == 0);
  CHECK(refusal("").find("not a result: ") == 0);
}

TEST_CASE("read result: a member of another type is named") {
  CHECK(refusal(with_rows("1")) == "rows: expected objects");
  CHECK(refusal(with_rows("[]")) == "rows: expected objects");
  CHECK(refusal(with_rows(R"({"step": "0"})")) == "rows[0].step: expected an integer of at least 0");
  CHECK(refusal(with_rows(R"({"step": 5000000000})")) == "rows[0].step: expected an integer of at least 0");
  CHECK(refusal(with_rows(R"({"op": 1})")) == "rows[0].op: expected a string");
  CHECK(refusal(with_rows(R"({}, {"verdict": "good"})")) ==
        "rows[1].verdict: 'good' is no word of the schema");
  CHECK(refusal(with_rows(R"({"dtype": 1})")) == "rows[0].dtype: expected a list");
  CHECK(refusal(with_rows(R"({"dtype": [1, 2]})")) == "rows[0].dtype: expected strings");
  CHECK(refusal(with_rows(R"({"dtype": ["a"], "shape": [["x"]]})")) == "rows[0].shape: expected integers");
  CHECK(refusal(with_rows(R"({"metrics": {"cosine": "one"}})")) ==
        "rows[0].metrics.cosine: expected a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
  CHECK(refusal(with_rows(R"({"unreadable": 1})")) == "rows[0].unreadable: expected true or false");
}

TEST_CASE("read result: limits on nesting, rows and size") {
  CHECK(refusal(with_rows(R"({"value": [)" + std::string(1000, '[') + std::string(1000, ']') + "]}")) ==
        "nested deeper than 64");
  ReadLimits limits;
  limits.rows = 1;
  CHECK(refusal(with_rows("{}, {}"), limits) == "rows: more than 1");
  limits.file_bytes = 10;
  CHECK_FALSE(refusal(with_rows(""), limits).empty());
}

TEST_CASE("read result: a file that is not there") {
  const auto result = read_result("/nonexistent/compare_result.json");
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == Code::io);
}

}  // namespace ulpscope
