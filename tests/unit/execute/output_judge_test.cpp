#include "execute/output_judge.hpp"

#include <doctest/doctest.h>

#include "judgement_host.hpp"
#include "policy/loader.hpp"

using namespace ulpscope;

namespace {

OutputTensor tensor(DType dtype, Shape shape, const std::vector<double>& values) {
  return {"0", dtype, std::move(shape), test::floats(dtype, values).bytes};
}

OutputTensor integers(Shape shape, const std::vector<int64_t>& values) {
  OutputTensor out{"0", DType::i64, std::move(shape), {}};
  out.data.resize(values.size() * 8);
  std::memcpy(out.data.data(), values.data(), out.data.size());
  return out;
}

struct Judged {
  test::JudgementHost host;
  OutputJudge judge;
  ulpscope_op_record op = {};

  explicit Judged(const std::string& profile = "seed", std::set<std::string, std::less<>> quantised = {})
      : judge(make(host, profile, std::move(quantised))) {
    op.struct_size = sizeof op;
    op.phase = ULPSCOPE_FORWARD;
    op.name = to_str("Torch.add.0.forward");
  }
  static OutputJudge make(test::JudgementHost& host, const std::string& profile,
                          std::set<std::string, std::less<>> quantised) {
    auto policy = load_preset(profile, host.registry);
    REQUIRE(policy.ok());
    auto made = OutputJudge::make(std::move(policy).value(), host.registry, std::move(quantised));
    REQUIRE(made.ok());
    return std::move(made).value();
  }
  CheckOutput operator()(std::string_view api, const OutputTensor& golden, const OutputTensor& device) {
    op.type = to_str(api);
    return judge.judge({api, &op, {}}, "row", golden, device);
  }
};

std::optional<double> cell(const CheckOutput& row, DetailMetric metric) {
  return row.cells[static_cast<size_t>(metric)];
}

}  // namespace

TEST_CASE("a row holds the indicators and the metrics of the policy's algorithm, no others") {
  Judged judged;
  const auto row = judged("add", tensor(DType::f64, {2}, {1, 2}), tensor(DType::f32, {2}, {1, 2}));
  CHECK(row.status == OutputStatus::pass);
  CHECK(row.algorithm == "absolute_threshold");
  CHECK(row.bench_dtype == "torch.float64");
  CHECK(row.device_dtype == "torch.float32");
  CHECK(row.shape == "(2,)");
  CHECK(cell(row, DetailMetric::cosine) == 1);
  CHECK(cell(row, DetailMetric::max_abs_error) == 0);
  CHECK(cell(row, DetailMetric::relative_error_rate) == 0);
  CHECK(!cell(row, DetailMetric::rmse));
  CHECK(!cell(row, DetailMetric::within_thousandth));
  CHECK(judged("softmax", tensor(DType::f64, {2}, {1, 2}), tensor(DType::f32, {2}, {1, 2})).algorithm ==
        "benchmark");
  CHECK(judged("matmul", tensor(DType::f64, {2}, {1, 2}), tensor(DType::f32, {2}, {1, 2})).algorithm ==
        "ulp");
}

TEST_CASE("the profile of the running code measures every float by the benchmark") {
  Judged judged("msprobe_code");
  CHECK(judged("add", tensor(DType::f64, {2}, {1, 2}), tensor(DType::f32, {2}, {1, 2})).algorithm ==
        "benchmark");
}

TEST_CASE("statuses of floats") {
  Judged judged;
  const auto status = [&](DType device, const std::vector<double>& d, const std::vector<double>& g) {
    return judged("softmax", tensor(DType::f32, {static_cast<int64_t>(g.size())}, g),
                  tensor(device, {static_cast<int64_t>(d.size())}, d))
        .status;
  };
  CHECK(status(DType::f32, {1, 2, 3}, {1, 2, 3}) == OutputStatus::pass);
  CHECK(status(DType::f32, {100, 200, 300.05}, {100, 200, 300}) == OutputStatus::warning);
  CHECK(status(DType::f32, {100, 200, 310}, {100, 200, 300}) == OutputStatus::error);
  CHECK(status(DType::f32, {1, -2, 3}, {1, 2, 3}) == OutputStatus::error);
}

TEST_CASE("structure comes before numbers") {
  Judged judged;
  const auto shapes = judged("add", tensor(DType::f64, {2}, {1, 2}), tensor(DType::f32, {1, 2}, {1, 2}));
  CHECK(shapes.status == OutputStatus::error);
  CHECK(shapes.message == "the shape is (1, 2), the golden's (2,)");
  const auto types = judged("add", tensor(DType::f64, {1}, {1}), integers({1}, {1}));
  CHECK(types.status == OutputStatus::error);
  CHECK(types.message == "the type is torch.int64, the golden's torch.float64");
  const auto empty = judged("add", tensor(DType::f64, {0}, {}), tensor(DType::f32, {0}, {}));
  CHECK(empty.status == OutputStatus::skip);
  CHECK(empty.message == "no elements");
}

TEST_CASE("integers are equal or not, but for quantised APIs, which may be off by one") {
  Judged judged("seed", {"my_quant"});
  CHECK(judged("add", integers({2}, {1, 2}), integers({2}, {1, 2})).status == OutputStatus::pass);
  CHECK(judged("add", integers({2}, {1, 2}), integers({2}, {1, 3})).status == OutputStatus::error);
  CHECK(judged("npu_dynamic_quant", integers({2}, {1, 2}), integers({2}, {1, 3})).status ==
        OutputStatus::pass);
  CHECK(judged("my_quant", integers({2}, {1, 2}), integers({2}, {1, 3})).status == OutputStatus::pass);
  CHECK(judged("my_quant", integers({2}, {1, 2}), integers({2}, {1, 4})).status == OutputStatus::error);
}

TEST_CASE("zeros are counted with either sign") {
  CHECK(zero_count(tensor(DType::f32, {4}, {0, -0.0, 1, -1})) == 2);
  CHECK(zero_count(integers({3}, {0, 5, 0})) == 2);
}
