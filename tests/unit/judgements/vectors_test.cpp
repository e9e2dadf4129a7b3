// The judgements against numbers that the comparison code of msprobe gave for the same tensors. Provenance
// and tolerances: tests/data/judgement_vectors/README.md.
#include <ulpscope/elementwise.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "formats/npy.hpp"
#include "judgement_host.hpp"

namespace {

using namespace ulpscope;
using namespace ulpscope::test;
using Json = nlohmann::json;

constexpr const char* kPeer = R"({"profile": "msprobe_code"})";

std::string folder() { return std::string(ULPSCOPE_TEST_DATA) + "/judgement_vectors/"; }

struct Tensor {
  Elements elements;
  Shape shape;
};

// dtype: what the tensor stands for; bfloat16 is stored as float32.
Tensor read_tensor(const std::string& path, DType dtype) {
  const auto file = File::open(folder() + path);
  REQUIRE(file.ok());
  const auto places = read_places(*file);
  REQUIRE(places.ok());
  const TensorPlace& place = places->front();
  REQUIRE(place.plain);
  Tensor tensor{{place.dtype, std::vector<std::byte>(place.size)}, place.shape};
  REQUIRE(file->read_exact(place.offset, tensor.elements.bytes).ok());
  if (dtype != DType::bf16) return tensor;
  std::vector<double> numbers(tensor.elements.count());
  widen(place.dtype, tensor.elements.bytes.data(), tensor.elements.count(), numbers.data());
  tensor.elements = floats(DType::bf16, numbers);
  return tensor;
}

double number(const Json& value) {
  if (!value.is_string()) return value.get<double>();
  const std::string text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

void check_near(double found, const Json& expected, double relative) {
  const double want = number(expected);
  INFO("found ", found, ", expected ", want);
  if (std::isnan(want))
    CHECK(std::isnan(found));
  else if (std::isinf(want) || relative == 0)
    CHECK(found == want);
  else
    CHECK(std::fabs(found - want) <= relative * std::fabs(want));
}

// One metric of an algorithm: its index, its name in the vectors, and whether it must be exact.
struct Column {
  size_t index;
  const char* name;
  bool exact;
};
struct Algorithm {
  const char* name;  // in the vectors
  const char* plugin;
  const char* options;
  std::vector<Column> columns;
};

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> all = {
      {"benchmark",
       "benchmark",
       kPeer,
       {{0, "small_value_err_ratio", true},
        {1, "rmse", false},
        {2, "max_rel_error", false},
        {3, "mean_rel_error", false},
        {4, "eb", true}}},
      {"absolute_threshold",
       "absolute_threshold",
       kPeer,
       {{0, "inf_nan_error_ratio", true}, {1, "rel_err_ratio", true}, {2, "abs_err_ratio", true}}},
      {"ulp",
       "ulp",
       kPeer,
       {{0, "mean_ulp_error", false}, {1, "ulp_error_proportion", true}, {2, "max_ulp_error", false}}},
      {"double_thousandth", "double_thousandth", kPeer, {{0, "rel_err_thousandth", true}}},
      {"binary", "binary_consistency", kPeer, {{0, "error_rate", true}}},
      {"accumulative",
       "accumulative_error",
       "{}",
       {{0, "inf_nan_error_ratio", true},
        {1, "rel_err_ratio", true},
        {2, "abs_err_ratio", true},
        {3, "eb", true}}}};
  return all;
}

const char* word(int32_t verdict) {
  constexpr const char* kWords[] = {"SKIP", "pass", "warning", "error"};
  return kWords[verdict];
}

void check_precheck(JudgementHost& host, const Json& vector, const Tensor& device, const Tensor& golden,
                    double tolerance) {
  const JudgementHandle precheck = host.judgement("precheck", kPeer);
  const auto metrics = measure(precheck, device.elements, golden.elements);
  const Json& expected = vector["metrics"];
  const auto check_one = [&](size_t index, const char* name, double relative) {
    CAPTURE(name);
    const Json& value = expected[name]["value"];
    CHECK((metrics[index].available == 0) == value.is_null());
    if (!value.is_null() && metrics[index].available != 0) check_near(metrics[index].value, value, relative);
  };
  check_one(0, "cosine", tolerance);
  check_one(1, "max_abs_err", 1e-6);
  check_one(2, "ratio_0.01", 0);
  check_one(3, "ratio_0.001", 0);
  check_one(4, "ratio_0.0001", 0);
  const PairVerdict verdict = judge(precheck, device.elements.dtype, golden.elements.dtype, metrics);
  CHECK(std::string(word(verdict.overall)) == vector["acc_check_row"]["status"].get<std::string>());
}

void check_pair(JudgementHost& host, const Json& vector) {
  const std::string id = vector["id"];
  CAPTURE(id);
  const DType type = dtype_from_name(vector["device_dtype"].get<std::string>());
  const Tensor device = read_tensor(vector["device"], type),
               golden = read_tensor(vector["bench"], DType::none);
  if (device.shape != golden.shape || !vector.contains("metrics")) return;
  const double tolerance = golden.elements.dtype == DType::f64 ? 1e-9 : 1e-6;
  for (const Algorithm& algorithm : algorithms()) {
    CAPTURE(algorithm.name);
    const JudgementHandle judgement = host.judgement(algorithm.plugin, algorithm.options);
    const auto metrics = measure(judgement, device.elements, golden.elements);
    const Json& expected = vector["metrics"][algorithm.name];
    // Where float32 overflows on the way to a unit in the last place the vectors are infinite.
    const bool overflows = id == "bfloat16_subnormals" && std::string(algorithm.name) == "ulp";
    for (const Column& column : algorithm.columns) {
      CAPTURE(column.name);
      REQUIRE(metrics[column.index].available == 1);
      if (overflows)
        CHECK((std::isfinite(metrics[column.index].value) && metrics[1].value == 0));
      else
        check_near(metrics[column.index].value, expected[column.name], column.exact ? 0 : tolerance);
    }
    if (!expected.contains("verdict")) continue;
    const PairVerdict verdict = judge(judgement, type, golden.elements.dtype, metrics);
    CHECK(std::string(word(verdict.overall)) == expected["verdict"].get<std::string>());
  }
  check_precheck(host, vector, device, golden, tolerance);
}

// Fixed point with 14 digits, through which both sides of a triple went.
void through_text(std::vector<ulpscope_metric>& metrics, const Json& texts,
                  const std::vector<size_t>& order) {
  for (size_t i = 0; i < texts.size(); ++i)
    metrics[order[i]].value = std::strtod(texts[i].get<std::string>().c_str(), nullptr);
}

void check_triple(JudgementHost& host, const Json& vector) {
  const std::string id = vector["id"], algorithm = vector["algorithm"];
  CAPTURE(id);
  const DType type = dtype_from_name(vector["device_dtype"].get<std::string>());
  const Tensor golden = read_tensor(vector["bench"], DType::none);
  const Tensor npu = read_tensor(vector["npu"], type), gpu = read_tensor(vector["gpu"], type);
  const std::string api = vector["api"];
  const std::string level = api == "layer_norm" ? "L2" : api == "embedding" ? "L1" : "L0";
  const bool is_benchmark = algorithm == "benchmark";
  const JudgementHandle judgement = host.judgement(
      algorithm, is_benchmark ? R"({"profile": "msprobe_code", "level": ")" + level + "\"}" : kPeer);
  auto device = measure(judgement, npu.elements, golden.elements);
  auto reference = measure(judgement, gpu.elements, golden.elements);
  const Json& expected = vector["expected"];
  // Measured numbers agree with those of the texts.
  const std::vector<size_t> order =
      is_benchmark ? std::vector<size_t>{1, 0, 2, 3, 4} : std::vector<size_t>{2, 0, 1};
  const std::vector<size_t> text_order = is_benchmark ? std::vector<size_t>{0, 1, 2, 3, 4} : order;
  const auto check_texts = [&](const std::vector<ulpscope_metric>& metrics, const Json& texts) {
    for (size_t i = 0; i < texts.size(); ++i) {
      CAPTURE(i);
      const double want = std::strtod(texts[i].get<std::string>().c_str(), nullptr);
      const double found = metrics[text_order[i]].value;
      const bool same = std::isnan(want)   ? std::isnan(found)
                        : std::isinf(want) ? found == want
                                           : std::fabs(found - want) <= 1e-6 * std::fabs(want) + 1e-13;
      CHECK_MESSAGE(same, found, " for ", want);
    }
  };
  check_texts(device, expected["csv_values_npu"]);
  check_texts(reference, expected["csv_values_gpu"]);
  through_text(device, expected["csv_values_npu"], text_order);
  through_text(reference, expected["csv_values_gpu"], text_order);
  const PairVerdict verdict = judge(judgement, type, golden.elements.dtype, device, reference);
  CHECK(std::string(word(verdict.overall)) == expected["result"].get<std::string>());
  if (!is_benchmark) return;
  const char* statuses[] = {"small_value_err_status", "rmse_status", "max_rel_err_status",
                            "mean_rel_err_status", "eb_status"};
  for (size_t i = 0; i < 5; ++i) {
    CAPTURE(statuses[i]);
    CHECK(std::string(word(verdict.per_metric[i])) == expected[statuses[i]].get<std::string>());
  }
}

Json vectors() {
  std::ifstream in(folder() + "vectors.json");
  return Json::parse(in);
}

}  // namespace

TEST_CASE("judgements: every pair vector gives the numbers and verdicts of its table") {
  JudgementHost host;
  int checked = 0;
  for (const Json& vector : vectors())
    if (vector["kind"] == "pair") {
      check_pair(host, vector);
      ++checked;
    }
  CHECK(checked == 44);
}

TEST_CASE("judgements: every triple vector gives the numbers and verdicts of its table") {
  JudgementHost host;
  int checked = 0;
  for (const Json& vector : vectors())
    if (vector["kind"] == "triple") {
      check_triple(host, vector);
      ++checked;
    }
  CHECK(checked == 52);
}
