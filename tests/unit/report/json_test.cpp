#include "report/json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "read_file.hpp"
#include "report/json_text.hpp"
#include "sample_report.hpp"
#include "temp_folder.hpp"

namespace ulpscope {
namespace {

using Json = nlohmann::json;
using test::TempFolder;

Json written(const StoredResult& result) {
  const TempFolder folder;
  REQUIRE(write_json(StoredView(result), folder / "compare_result.json").ok());
  return Json::parse(test::read_file(folder / "compare_result.json"));
}

std::string string_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string number_json(double value) {
  std::string out;
  append_json_number(out, value);
  return out;
}

std::string value_json(std::string_view text) {
  std::string out;
  append_json_value(out, text);
  return out;
}

}  // namespace

TEST_CASE("json: a string escapes quotes, backslashes and control characters") {
  CHECK(string_text("a\"b\\c\n\r\t\x01") == "\"a\\\"b\\\\c\\n\\r\\t\\u0001\"");
  CHECK(string_text("") == "\"\"");
  CHECK(string_text("é→") == "\"é→\"");
}

TEST_CASE("json: what a terminal would act on is escaped and reads back") {
  CHECK(string_text("a\xC2\x9B"
                    "b\x7F\xE2\x80\xAE\"") == "\"a\\u009bb\\u007f\\u202e\\\"\"");
  CHECK(Json::parse(string_text("\xC2\x9B\xE2\x81\xA6")) == "\xC2\x9B\xE2\x81\xA6");
  CHECK(value_json("[\"\xC2\x9B\"]") == "[\"\\u009b\"]");
}

TEST_CASE("json: a byte that is not UTF-8 becomes U+FFFD") {
  CHECK(string_text("a\xff") == "\"a\xEF\xBF\xBD\"");
  CHECK(string_text("\xc3(") == "\"\xEF\xBF\xBD(\"");
}

TEST_CASE("json: numbers are the shortest that read back, the others are strings") {
  CHECK(number_json(0.1) == "0.1");
  CHECK(number_json(50) == "50");
  CHECK(number_json(-0.0) == "-0.0");
  CHECK(number_json(1e22) == "1e+22");
  CHECK(number_json(0.30000000000000004) == "0.30000000000000004");
  CHECK(number_json(5e-324) == "5e-324");
  CHECK(number_json(std::nan("")) == "\"NaN\"");
  CHECK(number_json(INFINITY) == "\"Infinity\"");
  CHECK(number_json(-INFINITY) == "\"-Infinity\"");
}

TEST_CASE("json: what is a JSON number") {
  for (const char* text : {"0", "-1.5", "1e3", "1E-3", "120", "0.5"})
    CHECK_MESSAGE(is_json_number(text), text);
  for (const char* text : {"", "-", "007", "+1", ".5", "1.", "1e", "1e+", "NaN", "0x10", "1 ", "-01"})
    CHECK_MESSAGE(!is_json_number(text), text);
}

TEST_CASE("json: an argument's value is JSON where it can be, else a string") {
  CHECK(value_json("") == "null");
  CHECK(value_json("1.5") == "1.5");
  CHECK(value_json("true") == "true");
  CHECK(value_json("\"text\"") == "\"text\"");
  CHECK(value_json("[1, null]") == "[1, null]");
  CHECK(value_json("[1, NaN]") == "\"[1, NaN]\"");
  CHECK(value_json("NaN") == "\"NaN\"");
  CHECK(value_json("\"\xff\"") == "\"\\\"\xEF\xBF\xBD\\\"\"");
  CHECK(value_json("\"a\"] , \"b\"") == "\"\\\"a\\\"] , \\\"b\\\"\"");
}

TEST_CASE("json: the members of a row and of a culprit") {
  const Json json = written(test::matmul_result());
  CHECK(json["schema"] == "ulpscope.compare/1");
  CHECK(json["version"] == "0.1.0");
  CHECK(json["reference"].is_null());
  CHECK(json["target"]["ops"] == 40);
  CHECK(json["policy"]["file"].is_null());
  CHECK(json["summary"]["pairs"] == 3);
  CHECK(json["localisation"]["verdict"] == "compute_fault");
  CHECK(json["localisation"]["propagated"] == 33);
  const Json& culprit = json["localisation"]["culprits"][0];
  CHECK(culprit["op"] == "Torch.matmul.2.forward");
  CHECK(culprit["worst"][0]["index"] == Json::array({1, 2, 1}));
  CHECK(culprit["worst"][0]["golden"] == -1.678);
  CHECK_FALSE(culprit.contains("token"));
  REQUIRE(json["rows"].size() == 3);
  const Json& row = json["rows"][2];
  CHECK(row["op"] == "Torch.matmul.2.forward");
  CHECK(row["tensor"] == "output.0");
  CHECK(row["match"] == "exact");
  CHECK(row["dtype"] == Json::array({"float32", "float32"}));
  CHECK(row["shape"] == Json::parse("[[2,5,5],[2,5,5]]"));
  CHECK(row["judged"] == "pass");
  CHECK(row["cause"] == "culprit");
  CHECK(row["verdict"] == "fail");
  CHECK(row["metrics"] ==
        Json::parse(R"({"elements": 50, "unequal": 50, "max_abs_err": 0.0297, "cosine": 0.999997})"));
  CHECK_FALSE(row.contains("value"));
  CHECK_FALSE(row.contains("absent"));
  CHECK_FALSE(json["rows"][0].contains("cause"));
  CHECK(json["rows"][0]["bit_identical"] == true);
}

TEST_CASE("json: hostile text stays text and rows of one side have nulls on the other") {
  const Json json = written(test::hostile_result());
  const Json& rows = json["rows"];
  REQUIRE(rows.size() == 5);
  CHECK(rows[0]["op"] == "=cmd|' /C calc'!A0");
  CHECK(rows[0]["metrics"]["max_abs_err"] == "NaN");
  CHECK(rows[0]["metrics"]["max_rel_err"] == "Infinity");
  CHECK(rows[0]["metrics"]["rmse"] == "-Infinity");
  CHECK(rows[0]["metrics"]["rel_l2"] == 1e-5);
  CHECK(rows[0]["shape"] == Json::parse("[[],[]]"));
  CHECK(rows[1]["op"] == "say \"hi\",\r\nbye\t\\");
  CHECK(rows[2]["op"] == "bad\xEF\xBF\xBD\xEF\xBF\xBD(utf8");
  CHECK(rows[2]["value"] == Json::array({"a\"b", "NaN"}));
  CHECK(rows[2]["shape"] == Json::array({nullptr, nullptr}));
  CHECK(rows[2]["metrics"].empty());
  CHECK(rows[3]["golden_op"] == "");
  CHECK(rows[3]["step"].is_null());
  CHECK(rows[3]["dtype"] == Json::array({"int64", nullptr}));
  CHECK(rows[3]["match"] == "only_target");
  CHECK(rows[4]["absent"] == "bad");
  CHECK(rows[4]["unreadable"] == true);
  CHECK(rows[4]["token"] == 3);
  CHECK(
      json["diagnostics"][0] ==
      Json::parse(
          R"({"severity": "error", "code": "io", "where": "step0/\u001b[2Jx.pt", "text": "cannot be opened"})"));
  CHECK(json["summary"]["diagnostics"] == 7);
}

TEST_CASE("json: evidence is a number where its text is one") {
  StoredResult result = test::matmul_result();
  result.head.localisation.culprits[0].evidence = {{"amplification", "120.5"}, {"control group", "007"}};
  const Json json = written(result);
  CHECK(json["localisation"]["culprits"][0]["evidence"] ==
        Json::parse(R"({"amplification": 120.5, "control group": "007"})"));
}

TEST_CASE("json: an existing report is never overwritten") {
  const TempFolder folder;
  const std::string path = folder.write("compare_result.json", "mine");
  const Status status = write_json(StoredView(test::matmul_result()), path);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == Code::io);
  CHECK(status.error().message == path + ": exists already, and a result is never overwritten");
  CHECK(test::read_file(path) == "mine");
}

}  // namespace ulpscope
