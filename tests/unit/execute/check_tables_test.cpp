#include "execute/check_tables.hpp"

#include <doctest/doctest.h>
#include <fstream>
#include <iterator>

#include "temp_folder.hpp"

using namespace ulpscope;
using test::TempFolder;

namespace {

constexpr const char* kResult = "accuracy_checking_result_20240131235959.csv";
constexpr const char* kDetails = "accuracy_checking_details_20240131235959.csv";

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

CheckReport report(const std::string& id) {
  CheckReport out;
  out.api = id;
  out.forward = OutputStatus::pass;
  CheckOutput output;
  output.name = id + ".forward.output.0";
  output.bench_dtype = "torch.float64";
  output.device_dtype = "torch.float32";
  output.shape = "(3, 4)";
  output.status = OutputStatus::pass;
  output.cells[static_cast<size_t>(DetailMetric::max_abs_error)] = 0.25;
  out.outputs.push_back(output);
  return out;
}

CheckTables fresh(const TempFolder& folder) {
  auto tables = CheckTables::create(folder.path(), "20240131235959", 14);
  REQUIRE(tables.ok());
  return std::move(tables).value();
}

}  // namespace

TEST_CASE("the tables of a check have the columns and forms of the pre-check") {
  const TempFolder folder;
  {
    CheckTables tables = fresh(folder);
    REQUIRE(tables.append(report("Torch.add.0")).ok());
    CheckReport skipped;
    skipped.api = "Torch.mul.0";
    skipped.forward = skipped.backward = OutputStatus::skip;
    skipped.message = "no, \"really\"\nnot";
    REQUIRE(tables.append(skipped).ok());
  }
  CHECK(content(folder / kResult) ==
        "\xEF\xBB\xBF"
        "API Name,Forward Test Success,Backward Test Success,Message\r\n"
        "Torch.add.0,pass, \r\n"
        "Torch.mul.0,SKIP,SKIP,\"no, \"\"really\"\" not\"\r\n");
  const std::string details = content(folder / kDetails);
  CHECK(details.find(
            "API Name,Bench Dtype,DEVICE Dtype,Shape,余弦相似度,最大绝对误差,双百指标,双千指标,双万指标,") ==
        3);
  CHECK(
      details.find(
          "Torch.add.0.forward.output.0,torch.float64,torch.float32,\"(3, 4)\", ,0.25000000000000, , , , , ,"
          " , , , , , , , , , ,pass, \r\n") != std::string::npos);
}

TEST_CASE("a resumed run takes out what a killed one left half written") {
  const TempFolder folder;
  {
    CheckTables tables = fresh(folder);
    REQUIRE(tables.append(report("Torch.add.0")).ok());
  }
  // Killed while it wrote the result of add.2: details of add.1 and add.2 are there, results are not.
  const std::string result = content(folder / kResult), details = content(folder / kDetails);
  const std::string row = details.substr(details.rfind("Torch.add.0"));
  std::string second = row, third = row;
  second.replace(0, 11, "Torch.add.1");
  third.replace(0, 11, "Torch.add.2");
  folder.write(kResult, result + "Torch.add.2,pa");
  folder.write(kDetails, details + second + third + "Torch.add.3.forw");
  auto tables = CheckTables::resume(folder / kResult, 14);
  REQUIRE(tables.ok());
  CHECK(tables->is_done("Torch.add.0"));
  CHECK(tables->done_count() == 1);
  CHECK(content(folder / kResult) == result);
  CHECK(content(folder / kDetails) == details);
  REQUIRE(tables->append(report("Torch.add.1")).ok());
  CHECK(content(folder / kResult) == result + "Torch.add.1,pass, \r\n");
  int seen = 0;
  REQUIRE(tables->read_done([&](const CheckReport& each) { seen += static_cast<int>(each.outputs.size()); })
              .ok());
  CHECK(seen == 2);
}

TEST_CASE("only a table of results by its name is gone on with") {
  const TempFolder folder;
  const auto tables = CheckTables::resume(folder.write("other.csv", "x"), 14);
  REQUIRE(!tables.ok());
  CHECK(tables.error().code == Code::usage);
  CHECK(tables.error().message ==
        "option --result-csv-path: 'other.csv', expected a file accuracy_checking_result_<14 digits>.csv");
}

TEST_CASE("a report passes a pipe unchanged") {
  CheckReport sent = report("Torch.add.0");
  sent.message = "a\nb \"c\"";
  sent.outputs[0].cells[0] = 1.0 / 3;
  const auto received = report_from_line(to_line(sent));
  REQUIRE(received.ok());
  CHECK(received->message == sent.message);
  CHECK(received->outputs[0].cells == sent.outputs[0].cells);
  CHECK(received->forward == OutputStatus::pass);
  CHECK(report_from_line("{}").error().message == "a worker answered with something that is no report: '{}'");
}

TEST_CASE("an error outlives a later warning, and nothing is no pass") {
  const auto rolled = [](std::vector<OutputStatus> statuses) {
    std::vector<CheckOutput> outputs;
    for (const OutputStatus status : statuses) {
      outputs.emplace_back();
      outputs.back().status = status;
    }
    return roll_up(outputs);
  };
  CHECK(rolled({OutputStatus::error, OutputStatus::warning}) == OutputStatus::error);
  CHECK(rolled({OutputStatus::skip, OutputStatus::skip}) == OutputStatus::skip);
  CHECK(rolled({OutputStatus::skip, OutputStatus::pass}) == OutputStatus::pass);
  CHECK(rolled({}) == OutputStatus::none);
}

TEST_CASE("a half line is no record") {
  CHECK(whole_records("a,b\r\nc") == 5);
  CHECK(whole_records("a,\"x\ny\"\nb") == 8);
  CHECK(whole_records("a,\"x\n") == 0);
}
