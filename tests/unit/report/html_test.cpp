#include "report/html.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "page_blocks.hpp"
#include "read_file.hpp"
#include "report/page_columns.hpp"
#include "report/page_rows.hpp"
#include "sample_report.hpp"
#include "temp_folder.hpp"

namespace ulpscope {
namespace {

using Json = nlohmann::json;
using test::block;
using test::header;
using test::TempFolder;

std::string page_of(const StoredResult& result, const HtmlOptions& options = {}) {
  const TempFolder folder;
  REQUIRE(write_html(StoredView(result), folder / "report.html", options).ok());
  return test::read_file(folder / "report.html");
}

// Rows that fail, as many as are asked for, and as many that pass behind them.
StoredResult many_rows(int64_t failing, int64_t passing) {
  StoredResult result = test::empty_result();
  for (int64_t i = 0; i < failing + passing; ++i) {
    const std::string op = "Torch.relu." + std::to_string(i) + ".forward";
    StoredRow row = test::row_of(test::tensor_side(op, "output.0", "float32", {4}),
                                 test::tensor_side(op, "output.0", "float32", {4}),
                                 i < failing ? Verdict::fail : Verdict::pass, i);
    row.metrics = {{test::metric_index("rel_l2"), static_cast<double>(i)}};
    result.rows.push_back(std::move(row));
  }
  return result;
}

size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace

TEST_CASE("html: one file that loads nothing and runs only its own script") {
  const std::string page = page_of(test::matmul_result());
  CHECK(page.starts_with("<!doctype html>\n<html lang=\"en\">"));
  CHECK(page.find("default-src 'none'; script-src 'sha256-") != std::string::npos);
  CHECK(page.find("unsafe-") == std::string::npos);
  for (const char* loads : {" src=", "<link", "@import", "url(http", "fetch(", "XMLHttpRequest", "innerHTML"})
    CHECK_MESSAGE(page.find(loads) == std::string::npos, loads);
}

TEST_CASE("html: the shell without data is below 1.5 MB") {
  CHECK(page_of(test::empty_result()).size() < 1'500'000);
}

TEST_CASE("html: the header holds the finding, the sentences and the culprit's row") {
  const Json head = header(page_of(test::matmul_result()));
  CHECK(head.at("localisation").at("verdict") == "compute_fault");
  const Json& page = head.at("page");
  CHECK(page.at("rows") == 3);
  CHECK(page.at("all_rows") == 3);
  CHECK(page.at("culprits").at("rows") == Json::array({2}));
  CHECK(page.at("culprits").at("sentences").at(0).at(0) ==
        "inputs are bit-identical; output differs in 100 % of 50 elements");
}

TEST_CASE("html: a metric that no row has is no column") {
  const Json head = header(page_of(test::matmul_result()));
  std::vector<std::string> numbers;
  for (const Json& column : head.at("page").at("columns"))
    if (column.at("kind") == "number") numbers.push_back(column.at("name"));
  CHECK(numbers == std::vector<std::string>{"elements", "unequal", "max_abs_err", "cosine"});
}

TEST_CASE("html: columns are planes of bytes, the producer is a row of the page") {
  const std::string page = page_of(test::flow_result());
  const Json columns = header(page).at("page").at("columns");
  size_t place = 0;
  while (columns.at(place).at("name") != "producer") ++place;
  // -1, -1, 1, -1 are the differences -1, 0, 2, -2.
  CHECK(block(page, std::to_string(place)) ==
        std::string("\xFF\x00\x02\xFE\xFF\x00\x00\xFF\xFF\x00\x00\xFF\xFF\x00\x00\xFF", 16));
  CHECK(header(page).at("page").at("histograms") == Json::parse("[[1, -7, 1, [4, 5]]]"));
}

TEST_CASE("html: no text of a dump stands in the file as it is") {
  const std::string page = page_of(test::hostile_result());
  CHECK(page.find("<script>alert(1)") == std::string::npos);
  CHECK(page.find("&lt;script&gt;alert(1)&lt;/script&gt;") != std::string::npos);
  CHECK(page.find('\x1b') == std::string::npos);
  // Its own script, and the blocks.
  const size_t blocks = header(page).at("page").at("columns").size() + 1;
  CHECK(count_of(page, "<script") == blocks + 1);
  CHECK(count_of(page, "</script>") == blocks + 1);
}

TEST_CASE("html: a name cannot end the element that it stands in") {
  StoredResult result = test::matmul_result();
  const std::string name = "</noscript></script><img src=x onerror=alert(1)>\"'&";
  result.head.localisation.culprits[0].op_name = name;
  result.head.target.path = name;
  const std::string page = page_of(result);
  CHECK(page.find("<img") == std::string::npos);
  CHECK(count_of(page, "</noscript>") == 1);
  CHECK(header(page).at("target").at("path") == name);
}

TEST_CASE("html: the language that the page starts in") {
  CHECK(page_of(test::matmul_result(), {.language = Language::chinese})
            .starts_with("<!doctype html>\n<html lang=\"zh\">"));
  CHECK(parse_language("zh").value() == Language::chinese);
  const auto other = parse_language("fr");
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == Code::usage);
  CHECK(other.error().message == "--lang: 'fr' is no language of the page, expected en or zh");
}

TEST_CASE("html: text in HTML") {
  std::string out;
  append_html(out, "a<b>&\"'\x01é");
  CHECK(out == "a&lt;b&gt;&amp;&quot;&#39;\\x01é");
}

TEST_CASE("html: a larger run keeps the worst and an even sample, in order, and says of how many") {
  const StoredResult result = many_rows(50, 950);
  const std::vector<int64_t> rows = choose_page_rows(StoredView(result), 20);
  REQUIRE(rows.size() <= 20);
  REQUIRE(rows.size() >= 18);
  CHECK(std::is_sorted(rows.begin(), rows.end()));
  // Twelve of the limit are the worst of those that fail: their error grows with their number.
  for (int64_t row = 38; row < 50; ++row)
    CHECK_MESSAGE(std::binary_search(rows.begin(), rows.end(), row), row);
  CHECK(rows.front() == 0);
  CHECK(rows.back() > 800);
  const Json page = header(page_of(result, {.most_rows = 20})).at("page");
  CHECK(page.at("all_rows") == 1000);
  CHECK(page.at("rows") == rows.size());
}

TEST_CASE("html: the row of a culprit is always in the page") {
  StoredResult result = many_rows(900, 100);
  Culprit culprit;
  culprit.row = 3;
  result.head.localisation.culprits = {culprit};
  const std::vector<int64_t> rows = choose_page_rows(StoredView(result), 10);
  CHECK(std::binary_search(rows.begin(), rows.end(), 3));
}

TEST_CASE("html: bits of numbers") {
  CHECK(page_bits(std::nullopt) == 0xFFFFFFFFFFFFFFFF);
  CHECK(page_bits(0.0) == 0);
  CHECK(page_bits(-0.0) == 0x8000000000000000);
  CHECK(page_bits(std::numeric_limits<double>::infinity()) == 0x7FF0000000000000);
  CHECK(page_bits(std::nan("")) == 0x7FF8000000000000);
  // An integer keeps every bit, a fraction 14 of its mantissa: 1/3 is 0x3FD5555555555555.
  CHECK(page_bits(9007199254740991.0) == 0x433FFFFFFFFFFFFF);
  CHECK(page_bits(1.0 / 3) == 0x3FD5554000000000);
  // The largest double would round to infinity, and is cut instead.
  CHECK(page_bits(std::numeric_limits<double>::max() * 0.9999999) < 0x7FF0000000000000);
}

TEST_CASE("html: planes have the highest bytes first, low halves only where they are needed") {
  const std::vector<uint64_t> fractions = {0x3FE0000000000000, 0xFFFFFFFFFFFFFFFF};
  CHECK(number_planes(fractions).planes == 4);
  CHECK(number_planes(fractions).bytes == std::string("\x3F\xFF\xE0\xFF\x00\xFF\x00\xFF", 8));
  const std::vector<uint64_t> large = {0x433FFFFFFFFFFFFF};
  CHECK(number_planes(large).planes == 8);
  CHECK(number_planes(large).bytes == "\x43\x3F\xFF\xFF\xFF\xFF\xFF\xFF");
}

TEST_CASE("html: integers are differences in planes, lowest bytes first") {
  const std::vector<int32_t> values = {5, 3, -1, 70000};
  CHECK(integer_planes(values) ==
        std::string("\x05\xFE\xFC\x71\x00\xFF\xFF\x11\x00\xFF\xFF\x01\x00\xFF\xFF\x00", 16));
}

TEST_CASE("html: an existing report is not replaced") {
  const TempFolder folder;
  folder.write("report.html", "old");
  const Status status = write_html(StoredView(test::empty_result()), folder / "report.html");
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == Code::io);
  CHECK(test::read_file(folder / "report.html") == "old");
}

}  // namespace ulpscope
