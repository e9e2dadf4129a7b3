// Writes the pages that the tests of the page read, into a folder: page_samples FOLDER [ROWS]. ROWS: of the
// large one, none by default.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "report/html.hpp"
#include "report/json.hpp"
#include "report/result_page.hpp"
#include "sample_report.hpp"
#include "sample_results.hpp"

namespace {

using namespace ulpscope;

// Layers of four ops on four ranks, with one wrong op whose error goes on from there.
StoredResult large_result(int64_t rows) {
  StoredResult result = test::empty_result();
  const char* kinds[] = {"linear", "matmul", "softmax", "add"};
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t op = i / 4, lane = op * 4 / (rows / 4 + 1), place = op % (rows / 16 + 1);
    const std::string kind = kinds[place % 4];
    const std::string name = "Torch." + kind + "." + std::to_string(place / 4) + ".forward";
    const char* items[] = {"input.0", "input.1", "parameter.weight", "output.0"};
    const bool wrong = lane == 1 && place > rows / 32;
    StoredRow row = test::row_of(test::tensor_side(name, items[i % 4], "bfloat16", {4, 128, 4096}),
                                 test::tensor_side(name, items[i % 4], "float32", {4, 128, 4096}),
                                 wrong ? Verdict::fail : Verdict::pass, op);
    row.rank = static_cast<int32_t>(lane);
    row.module = "Module.model.layers." + std::to_string(place / 16) + ".mlp.Block.forward.0";
    row.cause = wrong ? Cause::inherited : Cause::rounding;
    const double noise = 1 + std::fabs(std::sin(static_cast<double>(i)));
    const double error = (wrong ? 0.05 : 2e-3) * noise;
    for (const char* metric :
         {"max_abs_err", "mean_abs_err", "rmse", "rel_l2", "max_rel_err", "target_max", "golden_max",
          "target_mean", "golden_mean", "target_l2norm", "golden_l2norm", "abs_err_p50", "abs_err_p99"})
      row.metrics.emplace_back(test::metric_index(metric),
                               error * (1 + static_cast<double>(row.metrics.size())));
    row.metrics.emplace_back(test::metric_index("cosine"), 1 - error * error / 2);
    row.metrics.emplace_back(test::metric_index("elements"), 2097152);
    if (i % 4 == 0 && i > 0) row.producer = i - 1;
    result.rows.push_back(std::move(row));
  }
  result.head.summary.pairs = result.head.summary.pass = rows;
  result.head.localisation.verdict = "rounding";
  return result;
}

// Every number NaN, and a name of 10 000 characters.
StoredResult odd_result() {
  StoredResult result = test::flow_result();
  for (StoredRow& row : result.rows) {
    row.target.op = row.golden.op = "<script>alert(1)</script>" + std::string(10'000, 'x');
    for (auto& [metric, value] : row.metrics) value = std::nan("");
  }
  return result;
}

// The pages of the results of other commands; hostile: names that are HTML, numbers that are NaN.
bool write_results(const std::string& folder, int64_t calls) {
  const std::string script = "<script>alert(1)</script>", nan = "\"max_abs_error\":\"NaN\"";
  const std::string check = test::check_result(), locate = test::locate_result();
  std::vector<std::pair<std::string, std::string>> results = {
      {"check", check},
      {"precision", test::precision_result()},
      {"locate", locate},
      {"locate_empty", R"({"schema":"ulpscope.locate/1","outcome":"met"})"},
      {"check_empty", test::large_check(0)},
      {"check_one", test::large_check(1)},
      {"check_hostile", test::with(test::with(check, "Torch.matmul", script), "\"max_abs_error\":3", nan)},
      {"locate_hostile", test::with(locate, "enc/LayerNorm", script)}};
  if (calls > 0) results.emplace_back("check_large", test::large_check(calls));
  for (const auto& [name, json] : results) {
    const std::string path = std::string(folder).append("/").append(name);
    std::ofstream(path + ".json", std::ios::binary) << json;
    if (!write_result_page(path + ".json", path + ".html", {}, nullptr).ok()) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string folder = argv[1];
  const auto write = [&](const char* name, const StoredResult& result) {
    return write_html(StoredView(result), folder + "/" + name).ok();
  };
  bool written = write("flow.html", test::flow_result()) && write("hostile.html", test::hostile_result()) &&
                 write("empty.html", test::empty_result()) && write("odd.html", odd_result()) &&
                 write_results(folder, argc > 2 ? std::atoll(argv[2]) : 0);
  if (argc > 2) written = written && write("large.html", large_result(std::atoll(argv[2])));
  if (!written) std::fprintf(stderr, "%s: a page cannot be written\n", argv[1]);
  return written ? 0 : 1;
}
