#include "report/table_view.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <limits>

#include "memory_source.hpp"
#include "read_file.hpp"
#include "report/metrics.hpp"
#include "report/writer.hpp"
#include "temp_folder.hpp"

namespace ulpscope {
namespace {

using test::MemoryDump;
using test::TempFolder;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TensorRecord with_statistics(Role role, std::string path, double max, double min, double mean,
                             double l2norm) {
  TensorRecord record;
  record.role = role;
  record.path = std::move(path);
  record.dtype = DType::f32;
  record.shape = {2, 2};
  record.stats = {ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_MEAN | ULPSCOPE_STAT_L2,
                  0,
                  max,
                  min,
                  mean,
                  l2norm};
  return record;
}

// Two dumps of one linear with an input, an argument and an output, and one call that only the target has.
struct Fixture {
  Fixture() : target(dump(2.0, "1.5", true).index()), golden(dump(1.0, "2", false).index()) {
    table.target = &target;
    table.golden = &golden;
    table.judgements = {"similarity", "ulp"};
    table.judgement_columns = {{}, {"max_ulp_err", "mean_ulp_err"}};
    table.pairs.ops = {{0, 0, MatchKind::exact}, {1, kNoIndex, MatchKind::only_target}};
    const auto item = [&](const DumpIndex& index, std::string_view name) {
      for (ItemId i = 0; i < index.items().size(); ++i)
        if (index.item_name(i) == name) return i;
      throw std::runtime_error("no item");
    };
    add({item(target, "input.0"), item(golden, "input.0"), MatchKind::exact, 0, -1}, Mode::statistics,
        Verdict::pass);
    add({item(target, "input.alpha"), item(golden, "input.alpha"), MatchKind::exact, 0, -1}, Mode::value,
        Verdict::fail);
    add({item(target, "output.0"), item(golden, "output.0"), MatchKind::exact, 0, -1}, Mode::statistics,
        Verdict::warning);
    add({static_cast<ItemId>(target.items().size() - 1), kNoIndex, MatchKind::only_target, 1, -1}, Mode::none,
        Verdict::skip);
    table.diagnostic_count = 3;
  }

  static MemoryDump dump(double max, const std::string& alpha, bool extra) {
    MemoryDump dump("torch_api", extra ? "/out_a" : "/out_b");
    dump.op("Functional.linear.0.forward").tensor(with_statistics(Role::input, "0", 1, -1, 0, 2));
    dump.tensor(with_statistics(Role::output, "0", max, -1, 0, kInfinity));
    dump.attributes(R"({"input": [{"tensor": 0}], "kwarg": {"alpha": {"type": "float", "value": )" + alpha +
                    R"(}}, "output": [{"tensor": 1}]})");
    if (extra) dump.op("Torch.add.0.forward").output("0", {3}, DType::i64);
    return dump;
  }

  void add(ItemPair pair, Mode mode, Verdict verdict) {
    ResultRow row;
    row.pair = pair;
    row.mode = mode;
    row.judged = row.verdict = verdict;
    table.pairs.items.push_back(pair);
    table.rows.push_back(row);
  }

  RowView row(int64_t index) const {
    RowView view;
    TableView(table, "0.1.0").read_row(index, view);
    return view;
  }
  std::optional<double> metric(int64_t index, std::string_view name) const {
    const TableView view(table, "0.1.0");
    RowView row;
    view.read_row(index, row);
    for (size_t i = 0; i < row.metrics.size(); ++i)
      if (view.head().metric_names[i] == name) return row.metrics[i];
    throw std::runtime_error("no metric");
  }

  DumpIndex target, golden;
  ResultTable table;
};

}  // namespace

TEST_CASE("table view: names, types, shapes and places of a row") {
  const Fixture fixture;
  const TableView view(fixture.table, "0.1.0");
  RowView row;
  view.read_row(2, row);
  CHECK(row.target.op == "Functional.linear.0.forward");
  CHECK(row.target.item == "output.0");
  CHECK(row.golden.item == "output.0");
  CHECK(row.target.dtype == "float32");
  CHECK(row.target.shape.size() == 2);
  CHECK(row.match == "exact");
  CHECK(row.mode == "statistics");
  CHECK(row.judgement == "similarity");
  CHECK(row.absent.empty());
  CHECK(row.step == 0);
  CHECK(row.rank == 0);
  CHECK(row.token == -1);
  CHECK(view.head().target.path == "/out_a");
  CHECK(view.head().target.ops == 2);
  CHECK(view.head().golden.tensors == 2);
}

TEST_CASE("table view: an argument has types and values and no metric") {
  const Fixture fixture;
  const TableView view(fixture.table, "0.1.0");
  RowView row;
  view.read_row(1, row);
  CHECK_FALSE(row.target.is_tensor);
  CHECK(row.target.dtype == "float");
  CHECK(row.target.value == "1.5");
  CHECK(row.golden.value == "2");
  for (const auto& value : row.metrics) CHECK_FALSE(value.has_value());
}

TEST_CASE("table view: a call of one side has nothing on the other") {
  const Fixture fixture;
  const TableView view(fixture.table, "0.1.0");
  RowView row;
  view.read_row(3, row);
  CHECK(row.one_sided());
  CHECK(row.match == "only_target");
  CHECK(row.named().op == "Torch.add.0.forward");
  CHECK(row.golden.op.empty());
}

TEST_CASE("table view: statistics of both sides and their differences, absent where there are none") {
  const Fixture fixture;
  CHECK(fixture.metric(2, "target_max") == 2.0);
  CHECK(fixture.metric(2, "golden_max") == 1.0);
  CHECK(fixture.metric(2, "max_diff") == 1.0);
  CHECK(fixture.metric(2, "max_rel") == 1.0);
  CHECK(fixture.metric(2, "min_diff") == 0.0);
  CHECK_FALSE(fixture.metric(2, "max_abs_err").has_value());
  CHECK_FALSE(fixture.metric(2, "cosine").has_value());
  CHECK_FALSE(fixture.metric(2, "elements").has_value());
}

TEST_CASE("table view: measured elements give their metrics, and those not measured are absent") {
  Fixture fixture;
  const float target[4] = {1, 2, 3, -4}, golden[4] = {1, 2, 3, -2};
  const auto kernel = PairKernel::choose(DType::f32, DType::f32, kGroupDefault);
  REQUIRE(kernel.ok());
  DataMetrics metrics;
  kernel->run(reinterpret_cast<const std::byte*>(target), reinterpret_cast<const std::byte*>(golden), 4, 0,
              metrics.sums);
  fixture.table.data_metrics.push_back(metrics);
  fixture.table.rows[2].mode = Mode::data;
  fixture.table.rows[2].metrics = 0;
  CHECK(fixture.metric(2, "elements") == 4);
  CHECK(fixture.metric(2, "unequal") == 1);
  CHECK(fixture.metric(2, "max_abs_err") == 2);
  CHECK(fixture.metric(2, "mean_abs_err") == 0.5);
  CHECK(fixture.metric(2, "euclidean") == 2);
  CHECK(fixture.metric(2, "within_1e-3") == 0.75);
  CHECK(fixture.metric(2, "target_min") == -4);
  CHECK(fixture.metric(2, "golden_max") == 3);
  CHECK(fixture.metric(2, "target_nan_count") == 0);
  CHECK_FALSE(fixture.metric(2, "max_rel_err").has_value());
  CHECK_FALSE(fixture.metric(2, "max_ulp").has_value());
  CHECK_FALSE(fixture.metric(2, "abs_err_p50").has_value());
  CHECK_FALSE(fixture.metric(2, "first_mismatch_index").has_value());
  CHECK_FALSE(fixture.metric(2, "max_diff").has_value());
}

TEST_CASE("table view: how the errors spread, where it was measured and is asked for") {
  Fixture fixture;
  DataMetrics metrics;
  metrics.detail.emplace();
  for (const double error : {0.0, 0.5, 0.75}) metrics.detail->errors.add(error);
  fixture.table.data_metrics.push_back(metrics);
  fixture.table.rows[2].mode = Mode::data;
  fixture.table.rows[2].metrics = 0;
  fixture.table.rows[2].producer = 1;
  const TableView view(fixture.table, "0.1.0");
  RowView row;
  view.read_row(2, row);
  CHECK_FALSE(row.has_octaves);
  CHECK(row.producer == 1);
  row.wants_octaves = true;
  view.read_row(2, row);
  REQUIRE(row.has_octaves);
  CHECK(row.octaves.first == -1);
  CHECK(row.octaves.zeros == 1);
  CHECK(row.octaves.counts == std::vector<int64_t>{2});
  view.read_row(0, row);
  CHECK_FALSE(row.has_octaves);
}

TEST_CASE("table view: equal content hashes of one type mean bit-identical") {
  Fixture fixture;
  DataMetrics metrics;
  metrics.hash_target[0] = metrics.hash_golden[0] = 7;
  fixture.table.data_metrics.push_back(metrics);
  fixture.table.rows[2].mode = Mode::data;
  fixture.table.rows[2].metrics = 0;
  CHECK(fixture.row(2).bit_identical);
  fixture.table.data_metrics[0].hash_golden[1] = 1;
  CHECK_FALSE(fixture.row(2).bit_identical);
  fixture.table.data_metrics[0] = {};
  CHECK_FALSE(fixture.row(2).bit_identical);
}

TEST_CASE("table view: a judgement's own metrics stand under its name") {
  Fixture fixture;
  fixture.table.rows[2].judgement = 1;
  fixture.table.rows[2].judgement_metrics = 0;
  fixture.table.judgement_metrics.push_back({{{3.5, 1, 0}, {0, 0, 0}}});
  CHECK(fixture.metric(2, "ulp.max_ulp_err") == 3.5);
  CHECK_FALSE(fixture.metric(2, "ulp.mean_ulp_err").has_value());
  CHECK_FALSE(fixture.metric(0, "ulp.max_ulp_err").has_value());
}

TEST_CASE("result table: the summary counts rows of one side apart, and fails wherever they are") {
  Fixture fixture;
  Summary summary = summarise(fixture.table);
  CHECK(summary.pairs == 3);
  CHECK(summary.pass == 1);
  CHECK(summary.warning == 1);
  CHECK(summary.fail == 1);
  CHECK(summary.skip == 0);
  CHECK(summary.only_target == 1);
  CHECK(summary.only_golden == 0);
  CHECK(summary.unreadable == 0);
  CHECK(summary.diagnostics == 3);
  fixture.table.rows[3].verdict = Verdict::fail;
  fixture.table.rows[0].verdict = Verdict::skip;
  fixture.table.rows[0].unreadable = true;
  summary = summarise(fixture.table);
  CHECK(summary.fail == 2);
  CHECK(summary.skip == 1);
  CHECK(summary.only_target == 1);
  CHECK(summary.unreadable == 1);
}

TEST_CASE("metrics: the order of the contract") {
  std::string names;
  for (const MetricColumn& column : metric_columns()) names.append(column.name).append(" ");
  CHECK(
      names ==
      "elements unequal max_abs_err mean_abs_err max_rel_err mean_rel_err rmse rel_l2 euclidean cosine "
      "kl_divergence snr_db "
      "within_1e-2 within_5e-3 within_1e-3 within_1e-4 max_ulp mean_ulp ulp_over_threshold_rate "
      "nonfinite_mismatch "
      "nonfinite_equal golden_zero_mismatch first_mismatch_index target_max golden_max target_min golden_min "
      "target_mean golden_mean target_l2norm golden_l2norm target_nan_count golden_nan_count "
      "target_inf_count "
      "golden_inf_count abs_err_p50 abs_err_p90 abs_err_p99 abs_err_p999 acc_rel_err target_std golden_std "
      "max_diff min_diff mean_diff "
      "l2norm_diff "
      "max_rel min_rel mean_rel l2norm_rel ");
}

TEST_CASE("writer: msprobe columns of a table, with a byte order mark and msprobe's file name") {
  const TempFolder folder;
  const Fixture fixture;
  ReportRequest request;
  request.formats = {ReportFormat::csv, ReportFormat::json};
  request.columns = TableColumns::msprobe;
  request.version = "0.1.0";
  const auto paths = write_reports(fixture.table, request, folder.path());
  REQUIRE(paths.ok());
  REQUIRE(paths->size() == 2);
  const std::string name = std::filesystem::path(paths->at(0)).filename().string();
  CHECK(name.substr(0, 15) == "compare_result_");
  CHECK(name.size() == 33);
  const std::string text = test::read_file(paths->at(0));
  CHECK(text.find(
            "\xEF\xBB\xBFNPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,") ==
        0);
  CHECK(text.find(
            "\r\nFunctional.linear.0.forward.input.0,Functional.linear.0.forward.input.0,torch.float32,") !=
        std::string::npos);
  CHECK(paths->at(1) == folder / "compare_result.json");
}

}  // namespace ulpscope
