#include "report/result_page.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "page_blocks.hpp"
#include "read_file.hpp"
#include "report/api_statistics.hpp"
#include "report/page_table.hpp"
#include "sample_results.hpp"
#include "temp_folder.hpp"

namespace ulpscope {
namespace {

using Json = nlohmann::json;
using test::block;
using test::header;
using test::TempFolder;

std::string page_of(const std::string& json, const HtmlOptions& options = {}) {
  const TempFolder folder;
  const Status written =
      write_result_page(folder.write("result.json", json), folder / "report.html", options, nullptr);
  REQUIRE_MESSAGE(written.ok(), (written.ok() ? "" : written.error().message));
  return test::read_file(folder / "report.html");
}

// The message without the folder in front; "" when the page was written.
std::string problem_of(const std::string& json) {
  const TempFolder folder;
  const Status written = write_result_page(folder.write("r.json", json), folder / "report.html", {}, nullptr);
  return written.ok() ? "" : written.error().message.substr(folder.path().size() + 1);
}

std::vector<int32_t> integers(const std::string& page, const std::string& name) {
  const Json head = header(page);
  const Json& columns = head.at("page").at("columns");
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].at("name") != name || columns[i].at("kind") != "integer") continue;
    const std::string bytes = block(page, std::to_string(i));
    const size_t count = bytes.size() / 4;
    std::vector<int32_t> values;
    uint32_t value = 0;
    for (size_t row = 0; row < count; ++row) {
      for (size_t plane = 0; plane < 4; ++plane)
        value += uint32_t{static_cast<unsigned char>(bytes[plane * count + row])} << (8 * plane);
      values.push_back(static_cast<int32_t>(value));
    }
    return values;
  }
  return {};
}

std::vector<std::string> texts(const std::string& page, const std::string& name) {
  const Json head = header(page);
  std::vector<std::string> found;
  for (const int32_t number : integers(page, name))
    found.push_back(number < 0 ? "" : head.at("page").at("texts").at(static_cast<size_t>(number)));
  return found;
}

}  // namespace

TEST_CASE("check page: APIs in error come first, with the output that shows each best") {
  const Json page = header(page_of(test::check_result())).at("page");
  REQUIRE(page.at("groups").size() == 2);
  const Json& matmul = page.at("groups").at(0);
  CHECK(matmul.at("api") == "Torch.matmul");
  CHECK(matmul.at("calls") == 2);
  CHECK(matmul.at("error") == 1);
  // A cosine of -0.25 is farther from 1 than one of 0.5.
  CHECK(matmul.at("call") == "Torch.matmul.1");
  CHECK(matmul.at("direction") == "backward");
  CHECK(matmul.at("metric") == "cosine");
  CHECK(matmul.at("value") == -0.25);
  CHECK(matmul.at("next") == "ulpscope replay 'my dump' --op Torch.matmul.1.backward");
  const Json& softmax = page.at("groups").at(1);
  CHECK(softmax.at("warning") == 1);
  CHECK(softmax.at("metric") == "ratio_within_0.001");
}

TEST_CASE("check page: a row an output, and one for a call without outputs") {
  const std::string page = page_of(test::check_result());
  CHECK(integers(page, "call") == std::vector<int32_t>{0, 0, 1, 1, 2, 3, 4});
  CHECK(integers(page, "verdict") == std::vector<int32_t>{1, 1, 3, 3, 2, 1, 0});
  CHECK(integers(page, "backward") == std::vector<int32_t>{1, 1, 3, 3, -1, -1, -1});
  CHECK(texts(page, "output") ==
        std::vector<std::string>{"output.0", "output.0", "output.0", "output.0", "output.0", "output.0", ""});
  CHECK(texts(page, "direction")[3] == "backward");
  CHECK(texts(page, "call_message").back() == "random");
  CHECK(header(page).at("summary").at("fail") == 1);
}

TEST_CASE("check page: outputs by judgement and verdict, and reasons of skips") {
  const Json page = header(page_of(test::check_result())).at("page");
  CHECK(page.at("judgements") ==
        Json::parse(R"([["benchmark",0,0,1,0],["binary_consistency",0,1,0,0],["ulp",0,2,0,2]])"));
  CHECK(page.at("reasons") == Json::parse(R"([["random",1]])"));
}

TEST_CASE("precision page: both sides and the ratio of a number are columns, the verdict of each one too") {
  const std::string page = page_of(test::precision_result());
  std::set<std::string> names;
  const Json head = header(page);
  for (const Json& column : head.at("page").at("columns")) names.insert(column.at("name"));
  for (const char* name : {"rmse", "reference.rmse", "ratio.rmse", "status.rmse", "ratio.max_relative_error"})
    CHECK_MESSAGE(names.count(name) == 1, name);
  CHECK(integers(page, "status.max_relative_error") == std::vector<int32_t>{3, -1});
  const Json& group = head.at("page").at("groups").at(0);
  CHECK(group.at("metric") == "max_relative_error");
  CHECK(group.at("ratio") == 1000);
  CHECK(group.at("next") == "");  // the dump is not known
}

TEST_CASE("precision page: the command to go on with where the dump is known") {
  std::string result = test::precision_result();
  result.insert(result.find("\"device\":"), "\"dump\":\"a dump\",");
  const Json group = header(page_of(result)).at("page").at("groups").at(0);
  CHECK(group.at("next") == "ulpscope replay 'a dump' --op Functional.layer_norm.0.forward");
}

TEST_CASE("check page: of a large run errors are all there, the others by a sample, counts are of all") {
  HtmlOptions options;
  options.most_rows = 50;
  const std::string page = page_of(test::large_check(1000), options);
  const Json head = header(page);
  CHECK(head.at("page").at("all_calls") == 1000);
  const int64_t calls = head.at("page").at("calls");
  CHECK(calls == 50);
  int64_t errors = 0;
  for (const int32_t verdict : integers(page, "verdict")) errors += verdict == 3 ? 1 : 0;
  CHECK(errors == 10);
  CHECK(head.at("page").at("judgements") == Json::parse(R"([["ulp",0,990,0,10]])"));
  CHECK(head.at("summary").at("apis") == 1000);
}

TEST_CASE("check page: zero calls and one call") {
  CHECK(header(page_of(test::large_check(0))).at("page").at("rows") == 0);
  CHECK(header(page_of(test::large_check(1))).at("page").at("rows") == 1);
}

TEST_CASE("pages: no text of a result is read as HTML") {
  const std::string evil = "</script><script>alert(1)</script>";
  for (const std::string& page : {page_of(test::with(test::check_result(), "Torch.matmul", evil)),
                                  page_of(test::with(test::locate_result(), "enc/LayerNorm", evil))}) {
    CHECK(page.find(evil) == std::string::npos);
    CHECK(page.find("&lt;/script&gt;&lt;script&gt;alert(1)") != std::string::npos);
  }
}

TEST_CASE("check page: what is wrong with a file is named") {
  const std::string good = test::check_result();
  CHECK(problem_of(good).empty());
  CHECK(problem_of("[1]") == "r.json: not a result: expected a JSON object with a schema");
  CHECK(problem_of(R"({"schema":"x/1"})") ==
        "r.json: schema 'x/1', expected one of check, precision_compare and locate");
  CHECK(problem_of(test::with(good, R"("forward":"warning")", R"("forward":3)")) ==
        "r.json: not a result of a check: apis[2].forward: expected a string");
  CHECK(problem_of(test::with(good, R"("forward":"warning")", R"("forward":"odd")")) ==
        "r.json: not a result of a check: apis[2].forward: expected pass, warning, error or SKIP");
  CHECK(problem_of(test::with(good, R"("cosine":0.999,)", R"("cosine":"high",)")) ==
        "r.json: not a result of a check: apis[2].cosine: expected a number, \"NaN\", \"Infinity\" or "
        "\"-Infinity\"");
  CHECK(problem_of(test::with(good, R"("outputs":[]})", R"("outputs":7})")) ==
        "r.json: not a result of a check: apis[4].outputs: expected a list");
  CHECK(problem_of(test::with(good, R"("error":1,)", R"("error":-1,)")) ==
        "r.json: not a result of a check: summary.error: expected a count");
  CHECK(problem_of(R"({"schema":"ulpscope.check/1","apis":{}})") ==
        "r.json: not a result of a check: byte 36: apis: expected a list");
  CHECK(problem_of(good.substr(0, good.size() / 2)).starts_with("r.json: not a result of a check: byte "));
  CHECK(
      problem_of(test::with(good, R"("binary_error_rate")", R"("shape")")) ==
      "r.json: not a result of a check: metric 'shape': expected a name of its own, and at most 400 columns");
}

TEST_CASE("locate page: the steps, the first operator that differs, and what to do next") {
  const std::string page = page_of(test::locate_result());
  const Json head = header(page);
  CHECK(head.at("outcome") == "asked");
  REQUIRE(head.at("steps").size() == 3);
  CHECK(head.at("steps").at(2).at("first").at("op") == "enc/LayerNorm");
  CHECK(head.at("steps").at(2).at("differing") == 3);
  CHECK(head.at("steps").at(0).at("met") == false);
  CHECK(head.at("ask").at("instructions").size() == 2);
  CHECK(head.at("page").at("next").at(0) == "ulpscope locate --stages stages.yaml");
  CHECK(head.at("page").at("next").at(1) == "ulpscope compare 'a b' h -fr a.json --explain enc/LayerNorm");
  CHECK(page.find("<li>  --keep_dtype=./exceptionlist.cfg</li>") != std::string::npos);
}

TEST_CASE("locate page: operators with good inputs fail, those that inherited do not") {
  const std::string page = page_of(test::locate_result());
  CHECK(integers(page, "verdict") == std::vector<int32_t>{3, 0, 2});
  CHECK(integers(page, "first") == std::vector<int32_t>{1, 0, 0});
  CHECK(texts(page, "original")[1] == "enc/q, enc/k");
}

TEST_CASE("locate page: what is wrong with a file is named") {
  const std::string good = test::locate_result();
  CHECK(problem_of(test::with(good, R"("round":1)", R"("round":"x")")) ==
        "r.json: not a result of locate: steps[2].round: expected a count");
  CHECK(problem_of(test::with(good, R"("met":true)", R"("met":1)")) ==
        "r.json: not a result of locate: steps[1].met: expected true or false");
  CHECK(problem_of(test::with(good, R"("ask":{)", R"("ask":[],"x":{)")) ==
        "r.json: not a result of locate: ask: expected an object");
  CHECK(problem_of(R"({"schema":"ulpscope.locate/1","steps":[3]})") ==
        "r.json: not a result of locate: steps[0]: expected an object");
  CHECK(header(page_of(R"({"schema":"ulpscope.locate/1"})")).at("page").at("rows") == 0);
}

TEST_CASE("pages start in the language that was asked for") {
  HtmlOptions options;
  options.language = Language::chinese;
  CHECK(page_of(test::locate_result(), options).find("<html lang=\"zh\">") != std::string::npos);
}

TEST_CASE("names of calls and outputs") {
  CHECK(api_kind("Torch.matmul.2") == "Torch.matmul");
  CHECK(api_kind("Torch.matmul") == "Torch.matmul");
  CHECK(api_kind("7") == "7");
  const OutputNameParts place = output_place("Torch.matmul.2", "Torch.matmul.2.backward.output.0");
  CHECK(place.direction == "backward");
  CHECK(place.output == "output.0");
  CHECK(output_place("Torch.matmul.2", "Torch.matmul.20.forward.output.0").direction.empty());
}

TEST_CASE("page table: columns that are found late are absent in earlier rows, and there are not too many") {
  PageTable table({"a"}, "");
  table.begin_row();
  CHECK(table.set("a", 5));
  table.begin_row();
  CHECK(table.set("b", 7));
  CHECK(table.set_number("x", 0.5));
  CHECK_FALSE(table.set_number("a", 1));
  for (size_t i = 3; i < PageTable::kMostColumns; ++i) CHECK(table.set("c" + std::to_string(i), 1));
  CHECK_FALSE(table.set("one more", 1));
  CHECK(table.row_count() == 2);
}

}  // namespace ulpscope
