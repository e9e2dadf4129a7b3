#include "report/csv.hpp"

#include <doctest/doctest.h>

#include "read_file.hpp"
#include "sample_report.hpp"
#include "temp_folder.hpp"

namespace ulpscope {
namespace {

using test::TempFolder;

std::string cell(std::string_view text) {
  std::string out;
  append_csv_cell(out, text);
  return out;
}

std::string written(const StoredResult& result) {
  const TempFolder folder;
  REQUIRE(write_csv(StoredView(result), folder / "compare_result.csv").ok());
  return test::read_file(folder / "compare_result.csv");
}

}  // namespace

TEST_CASE("csv: a cell that starts like a formula gets an apostrophe") {
  CHECK(cell("=1+1") == "\"'=1+1\"");
  CHECK(cell("+cmd") == "\"'+cmd\"");
  CHECK(cell("-cmd") == "\"'-cmd\"");
  CHECK(cell("@SUM(A1)") == "\"'@SUM(A1)\"");
  CHECK(cell("\t=1") == "\"'\t=1\"");
  CHECK(cell("\r=1") == "\"'\r=1\"");
  CHECK(cell("\xEF\xBC\x9D"
             "1") ==
        "\"'\xEF\xBC\x9D"
        "1\"");
  CHECK(cell("-1+cmd|' /C calc'!A0") == "\"'-1+cmd|' /C calc'!A0\"");
}

TEST_CASE("csv: numbers keep their sign") {
  for (const char* text : {"-1.5", "-inf", "-Infinity", "+2", "-3.5%", "-1e-5", "NaN"})
    CHECK(cell(text) == text);
}

TEST_CASE("csv: quotes, commas and line ends are quoted as in RFC 4180") {
  CHECK(cell("plain text") == "plain text");
  CHECK(cell("a,b") == "\"a,b\"");
  CHECK(cell("say \"hi\"") == "\"say \"\"hi\"\"\"");
  CHECK(cell("two\nlines") == "\"two\nlines\"");
  CHECK(cell("") == "");
  CHECK(cell("bad\xff") == "bad\xEF\xBF\xBD");
  CHECK(cell("a\x1b[31m\x07") == "a\\x1b[31m\\x07");
}

TEST_CASE("csv: columns stand in the order of the contract") {
  const std::vector<std::string> columns = csv_columns(test::empty_result().head);
  const std::vector<std::string> first(columns.begin(), columns.begin() + 19);
  CHECK(first == std::vector<std::string>{"step", "rank", "op", "tensor", "golden_op", "golden_tensor",
                                          "match", "dtype", "golden_dtype", "shape", "golden_shape",
                                          "judgement", "judged", "cause", "verdict", "elements", "unequal",
                                          "max_abs_err", "mean_abs_err"});
  CHECK(columns.back() == "message");
}

TEST_CASE("csv: a row, with absent metrics as empty cells") {
  StoredResult result = test::matmul_result();
  result.rows.erase(result.rows.begin(), result.rows.begin() + 2);
  const std::string text = written(result);
  const size_t line_end = text.find("\r\n");
  REQUIRE(line_end != std::string::npos);
  const std::string row = text.substr(line_end + 2);
  CHECK(row.substr(0, row.find("0.0297")) ==
        "0,0,Torch.matmul.2.forward,output.0,Torch.matmul.2.forward,output.0,exact,float32,float32,\"[2, 5, "
        "5]\","
        "\"[2, 5, 5]\",similarity,pass,culprit,fail,50,50,");
  CHECK(row.substr(row.size() - 3) == ",\r\n");
  CHECK(text.substr(0, 3) != "\xEF\xBB\xBF");
}

TEST_CASE("csv: hostile rows: formula, numbers that are not finite, one side only") {
  const std::string text = written(test::hostile_result());
  CHECK(text.find("\r\n0,0,\"'=cmd|' /C calc'!A0\",input.0,\"'=cmd|' /C "
                  "calc'!A0\",input.0,exact,float32,float32,[],[],") != std::string::npos);
  CHECK(text.find(",NaN,") != std::string::npos);
  CHECK(text.find(",Infinity,") != std::string::npos);
  CHECK(text.find(",-Infinity,") != std::string::npos);
  CHECK(text.find(",-1.5,-0.0,") != std::string::npos);
  CHECK(text.find("\"say \"\"hi\"\",\r\nbye\t\\\"") != std::string::npos);
  CHECK(text.find("\r\n,,\"'+extra\",output.0,,,only_target,int64,,[4],,similarity,skip,,skip,") !=
        std::string::npos);
}

}  // namespace ulpscope
