// Two tables of the pre-check: how they are read, paired, judged and rolled up.
#include <doctest/doctest.h>

#include <algorithm>

#include "judgement_host.hpp"
#include "policy/loader.hpp"
#include "precision_compare/csv_rows.hpp"
#include "precision_compare/details_table.hpp"
#include "precision_compare/output_name.hpp"
#include "precision_compare/precision_compare.hpp"

namespace {

using namespace ulpscope;
using namespace ulpscope::test;

const std::string kHeader =
    "API Name,Bench Dtype,DEVICE "
    "Dtype,Shape,余弦相似度,最大绝对误差,双百指标,双千指标,双万指标,二进制一致错误率,"
    "误差均衡性,均方根误差,小值域错误占比,相对误差最大值,相对误差平均值,inf/"
    "nan错误率,相对误差错误率,绝对误差错误率,"
    "ULP误差最大值,ULP误差平均值,ULP误差大于阈值占比,Status,Message\r\n";

// A row of the benchmark method with one rmse; everything else is 0.001.
std::string row(const std::string& name, const std::string& rmse, const std::string& dtype = "torch.float32",
                const std::string& shape = "\"(4, 4)\"") {
  return name + ",torch.float64," + dtype + "," + shape + ",1.0,0.0001, , , , ,0.001," + rmse +
         ",0.001,0.001,0.001, , , , , , ,pass,\"\n\"\r\n";
}
std::string bare(const std::string& name, const std::string& status, const std::string& message) {
  return name + ", , , , , , , , , , , , , , , , , , , , ," + status + "," + message + "\r\n";
}

DetailsTable table_of(const std::string& rows) {
  auto table = parse_details("t.csv", "\xEF\xBB\xBF" + kHeader + rows);
  REQUIRE_MESSAGE(table.ok(), (table.ok() ? "" : table.error().message));
  return std::move(table).value();
}

struct Judged : JudgementHost {
  PrecisionResult result;

  explicit Judged(const std::string& device, const std::string& reference,
                  const char* profile = "msprobe_code") {
    auto policy = load_preset(profile, registry);
    REQUIRE(policy.ok());
    JudgementChooser chooser(std::move(policy).value(), registry);
    auto found = precision_compare(table_of(device), table_of(reference), chooser);
    REQUIRE(found.ok());
    result = std::move(found).value();
  }
  const ApiResult& api(const std::string& id) const {
    const auto found = std::find_if(result.apis.begin(), result.apis.end(),
                                    [&](const ApiResult& each) { return each.api == id; });
    REQUIRE_MESSAGE(found != result.apis.end(), id);
    return *found;
  }
  bool says(const std::string& text) const {
    return std::any_of(result.notices.begin(), result.notices.end(),
                       [&](const std::string& notice) { return notice.find(text) != std::string::npos; });
  }
};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::vector<std::vector<std::string>> all_rows(std::string_view text) {
  CsvRows rows(text);
  std::vector<std::vector<std::string>> out;
  std::vector<std::string> cells;
  while (rows.next(cells)) out.push_back(cells);
  return out;
}

}  // namespace

TEST_CASE("csv: quotes, line ends, marks and ragged rows") {
  using Rows = std::vector<std::vector<std::string>>;
  CHECK(all_rows("a,b\nc,d\n") == Rows{{"a", "b"}, {"c", "d"}});
  CHECK(all_rows("\xEF\xBB\xBF"
                 "a\r\nb\rc") == Rows{{"a"}, {"b"}, {"c"}});
  CHECK(all_rows("\"a,\"\"b\"\"\n\",c\n") == Rows{{"a,\"b\"\n", "c"}});
  CHECK(all_rows("a,,\n\n\nb\n") == Rows{{"a", "", ""}, {"b"}});
  CHECK(all_rows("\"\"\n") == Rows{{""}});
  CHECK(all_rows("").empty());
}

TEST_CASE("csv: lines are counted through quoted cells, and an open quote is known") {
  CsvRows rows("a\n\"b\nb\"\nc\n\"d");
  std::vector<std::string> cells;
  for (const int64_t line : {1, 2, 4, 5}) {
    REQUIRE(rows.next(cells));
    CHECK(rows.line() == line);
  }
  CHECK(rows.unclosed());
}

TEST_CASE("output names: six or seven parts, the third from the end a direction") {
  CHECK(parse_output_name("Torch.add.0.forward.output.0")->id == "Torch.add.0");
  CHECK(parse_output_name("Torch.add.0.forward.output.0")->api == "add");
  CHECK(parse_output_name("Torch.linalg.norm.3.backward.output.1")->api == "linalg.norm");
  CHECK(parse_output_name("Torch.linalg.norm.3.backward.output.1")->phase == Phase::backward);
  CHECK_FALSE(parse_output_name("bad_name"));
  CHECK_FALSE(parse_output_name("Torch.a.b.c.0.forward.output.0"));
  CHECK_FALSE(parse_output_name("Torch.add.0.sideways.output.0"));
}

TEST_CASE("details: columns are found by name, in any order and in English") {
  const auto table =
      parse_details("t.csv",
                    "Message,rmse,API Name,DEVICE Dtype,ratio_within_0.001,binary_error_rate,error_balance,"
                    "small_value_error_rate,max_relative_error,mean_relative_error,inf_nan_error_rate,"
                    "relative_error_rate,absolute_error_rate,mean_ulp,ulp_over_threshold_rate\n"
                    "m,0.5,Torch.a.0.forward.output.0,torch.float32\n");
  REQUIRE_MESSAGE(table.ok(), (table.ok() ? "" : table.error().message));
  CHECK(table->rows[0].cell(DetailMetric::rmse).value == 0.5);
  CHECK(table->rows[0].message == "m");
  CHECK(table->rows[0].cell(DetailMetric::mean_ulp).kind == DetailCell::Kind::blank);
  REQUIRE(table->notices.size() == 1);
  CHECK(table->notices[0] == "t.csv:2: 4 cells, the header has 15");
}

TEST_CASE("details: the first generation has fewer columns and another name of the type") {
  const auto table = parse_details(
      "t.csv",
      "API Name,Bench Dtype,NPU "
      "Dtype,Shape,余弦相似度,最大绝对误差,双百指标,双千指标,双万指标,错误率,误差均衡性,均方根误差,"
      "小值域错误占比,相对误差最大值,相对误差平均值,Status,Message\n"
      "Torch.a.0.forward.output.0,torch.float32,torch.int64,\"(2,)\", , , , , ,0.5, , , , , ,error,x\n");
  REQUIRE(table.ok());
  CHECK(table->rows[0].device_dtype == "torch.int64");
  CHECK(table->rows[0].cell(DetailMetric::binary_error_rate).value == 0.5);
}

TEST_CASE("details: a missing column, an empty file and an open quote are errors") {
  const auto message = [](const std::string& text) {
    const auto table = parse_details("t.csv", text);
    REQUIRE_FALSE(table.ok());
    CHECK(table.error().code == Code::format);
    return table.error().message;
  };
  CHECK(message("") == "t.csv: the file is empty, expected a header");
  CHECK(has(message("API Name,Status\n"), "t.csv:1: columns are missing: DEVICE Dtype, "));
  std::string without = kHeader;
  without.erase(without.find("均方根误差,"), std::string("均方根误差,").size());
  CHECK(message(without) ==
        "t.csv:1: columns are missing: 均方根误差; expected a table accuracy_checking_details");
  CHECK(message(kHeader + "\"a") == "t.csv:2: a quoted cell does not end");
}

TEST_CASE("details: a file that only fills memory is an error with its line") {
  std::string rows = kHeader;
  for (int i = 0; i < 10001; ++i) rows += "x,\n";
  const auto ragged = parse_details("t.csv", rows);
  REQUIRE_FALSE(ragged.ok());
  CHECK(ragged.error().message ==
        "t.csv:10002: more than 10 000 rows have another number of cells than the header, expected as many");
  const auto wide = parse_details("t.csv", kHeader + "x" + std::string(2000, ',') + "\n");
  REQUIRE_FALSE(wide.ok());
  CHECK(wide.error().message ==
        "t.csv:2: more than 1024 cells in a row, expected a table accuracy_checking_details");
}

TEST_CASE("csv: cells behind the most that a row may have are passed over") {
  const std::string text = std::string(5000, ',') + "last\nnext\n";
  CsvRows rows(text);
  std::vector<std::string> cells;
  REQUIRE(rows.next(cells));
  CHECK(cells.size() == CsvRows::kMostCells);
  CHECK(rows.too_wide());
  REQUIRE(rows.next(cells));
  CHECK(cells == std::vector<std::string>{"next"});
}

TEST_CASE("precision_compare: ratios decide, and numbers are kept") {
  const Judged judged(
      row("Torch.a.0.forward.output.0", "0.002") + row("Torch.b.0.forward.output.0", "0.0021"),
      row("Torch.a.0.forward.output.0", "0.001") + row("Torch.b.0.forward.output.0", "0.001"));
  CHECK(judged.api("Torch.a.0").forward == OutputStatus::pass);
  CHECK(judged.api("Torch.a.0").backward == OutputStatus::none);
  CHECK(judged.api("Torch.b.0").forward == OutputStatus::error);
  const auto* rmse = judged.result.outputs[1].number(DetailMetric::rmse);
  REQUIRE(rmse != nullptr);
  CHECK(*rmse->ratio == doctest::Approx(2.1).epsilon(1e-12));
  CHECK(rmse->status == OutputStatus::error);
  CHECK(has(judged.result.outputs[1].message, "ERROR: 均方根误差超过阈值"));
}

TEST_CASE("precision_compare: a metric that is missing is never a pass") {
  const std::string good = row("Torch.a.0.forward.output.0", "0.001");
  const Judged device(row("Torch.a.0.forward.output.0", " "), good);
  CHECK(device.api("Torch.a.0").forward == OutputStatus::error);
  CHECK(has(device.result.outputs[0].message, "rmse of the device is missing"));
  const Judged empty(row("Torch.a.0.forward.output.0", ""), row("Torch.a.0.forward.output.0", ""));
  CHECK(empty.api("Torch.a.0").forward == OutputStatus::error);
  const Judged reference(good, row("Torch.a.0.forward.output.0", " "));
  CHECK(reference.api("Torch.a.0").forward == OutputStatus::skip);
  CHECK(has(reference.api("Torch.a.0").message, "rmse of the reference is missing"));
}

TEST_CASE("precision_compare: rows of one side alone are named and not judged") {
  const Judged judged(row("Torch.a.0.forward.output.0", "0.001"), row("Torch.b.0.forward.output.0", "0.001"));
  CHECK(judged.api("Torch.a.0").forward == OutputStatus::skip);
  CHECK(has(judged.api("Torch.a.0").message, "no row of this name in t.csv"));
  CHECK(judged.says("t.csv:2: Torch.b.0.forward.output.0 has no row in t.csv"));
  CHECK(judged.result.skipped == 1);
}

TEST_CASE("precision_compare: of rows that stand twice both are judged, the worse reference counts") {
  const std::string name = "Torch.a.0.forward.output.0";
  const Judged reference(row(name, "0.01"), row(name, "0.01") + row(name, "0.001"));
  CHECK(reference.api("Torch.a.0").forward == OutputStatus::error);
  CHECK(reference.says("stands in line 2 already; the worse verdict counts"));
  CHECK(has(reference.result.outputs[0].message, "2 rows of the reference have this name"));
  const Judged device(row(name, "0.01") + row(name, "0.001"), row(name, "0.001"));
  CHECK(device.result.outputs.size() == 2);
  CHECK(device.api("Torch.a.0").forward == OutputStatus::error);
  CHECK(device.says("stands in line 2 already; both are judged"));
}

TEST_CASE("precision_compare: rows of one API may stand anywhere") {
  const std::string a0 = row("Torch.a.0.forward.output.0", "0.001"),
                    a1 = row("Torch.a.0.forward.output.1", "0.1");
  const std::string b = row("Torch.b.0.forward.output.0", "0.001"),
                    back = row("Torch.a.0.backward.output.0", "0.001");
  const Judged judged(a0 + b + a1 + back, back + a0 + b + row("Torch.a.0.forward.output.1", "0.001"));
  CHECK(judged.result.apis.size() == 2);
  CHECK(judged.api("Torch.a.0").forward == OutputStatus::error);
  CHECK(judged.api("Torch.a.0").backward == OutputStatus::pass);
  CHECK(judged.api("Torch.b.0").forward == OutputStatus::pass);
}

TEST_CASE("precision_compare: what cannot be judged is a SKIP with a reason") {
  const std::string rows = bare("Torch.skipped.0.forward.output.0", "SKIP", "reason") +
                           row("Torch.wide.0.forward.output.0", "0.001", "torch.float64") +
                           row("Torch.empty.0.forward.output.0", "0.001", "torch.float32", "\"(2, 0, 3)\"") +
                           row("Torch.mixed.0.forward.output.0", "0.001") +
                           row("Torch.mixed.0.forward.output.1", "0.001", "torch.complex64") +
                           row("bad_name", "0.001") + row("Torch.text.0.forward.output.0", "abc");
  const Judged judged(rows, rows);
  CHECK(judged.api("Torch.skipped.0").forward == OutputStatus::skip);
  CHECK(judged.api("Torch.skipped.0").backward == OutputStatus::none);
  CHECK(judged.api("Torch.skipped.0").message == "reason");
  CHECK(judged.api("Torch.wide.0").backward == OutputStatus::skip);
  CHECK(has(judged.api("Torch.wide.0").message, "This data type does not support benchmark compare."));
  CHECK(judged.api("Torch.empty.0").forward == OutputStatus::skip);
  CHECK(judged.api("Torch.empty.0").message == "no elements");
  CHECK(judged.api("Torch.mixed.0").forward == OutputStatus::pass);
  CHECK(has(judged.api("Torch.mixed.0").message, "complex64"));
  CHECK(judged.api("bad_name").forward == OutputStatus::skip);
  CHECK(judged.api("bad_name").message == "The API name bad_name is invalid.");
  CHECK(judged.api("Torch.text.0").forward == OutputStatus::skip);
  CHECK(has(judged.api("Torch.text.0").message, "均方根误差 'abc'"));
  CHECK(judged.result.bad_data == 1);
}

TEST_CASE("precision_compare: a file whose columns are all numbers is judged like any other") {
  const std::string rate =
      "Torch.mul.0.forward.output.0,torch.float64,torch.float32,\"(4,)\",1,0,1,1,1,0,0,0,0,0,0,0,";
  const Judged good(rate + "0,0,0,0,0,pass,\r\n", rate + "0,0,0,0,0,pass,\r\n", "msprobe_per_api");
  CHECK(good.api("Torch.mul.0").forward == OutputStatus::pass);
  CHECK(good.result.outputs[0].algorithm == "absolute_threshold");
  const Judged bad(rate + "0.5,0,0,0,0,pass,\r\n", rate + "0,0,0,0,0,pass,\r\n", "msprobe_per_api");
  CHECK(bad.api("Torch.mul.0").forward == OutputStatus::error);
}
