#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "script.hpp"

namespace ulpscope {
namespace {

using namespace test;

std::string argument(const std::string& name, const std::string& type, const std::string& value) {
  return R"({"kwarg":{")" + name + R"(":{"type":")" + type + R"(","value":)" + value + "}}}";
}

TEST_CASE("arguments: what lay before in the tensor that a call writes to is no fault") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    add_witnesses(*side);
    side->op("NPU._npu_paged_attention.0.forward",
             {known(Role::kwarg, "query", "a4"), known(Role::kwarg, "out", side == &target ? "X" : "Y")});
    side->call("Torch.matmul.1.forward", {"b0", "w1"}, "b1");
  }
  CHECK(first(run(target, golden).table.localisation) == "none");
}

// A kernel that writes its result to an argument, and a call that reads it.
Script written(const std::string& query, const std::string& result) {
  Script script;
  add_witnesses(script);
  script.op("NPU._npu_paged_attention.0.forward",
            {known(Role::kwarg, "query", query), known(Role::kwarg, "out", "blank")});
  script.call("Tensor.view.0.forward", {result}, result + "v");
  return script;
}

TEST_CASE("arguments: a kernel that writes its result to an argument is at fault for what is read there") {
  CHECK(first(run(written("a4", "X"), written("a4", "Y")).table.localisation) ==
        "compute_fault NPU._npu_paged_attention.0.forward input.out step 0 rank 0");
  // What came into the kernel differs: the result does so because of that.
  CHECK(first(run(written("Q", "X"), written("q", "Y")).table.localisation) ==
        "input_fault NPU._npu_paged_attention.0.forward input.query step 0 rank 0");
}

TEST_CASE("arguments: another scale of a kernel that writes to an argument is named") {
  Script target = written("a4", "X"), golden = written("a4", "Y");
  target.dump.records()[4].first.attributes_json = argument("scale_value", "float", "0.5");
  golden.dump.records()[4].first.attributes_json = argument("scale_value", "float", "0.25");
  CHECK(first(run(target, golden).table.localisation) ==
        "input_fault NPU._npu_paged_attention.0.forward input.scale_value step 0 rank 0");
}

// Calls that scale by a number, all by the same.
Script scaled(bool fault_before, const std::string& number, const char* mark) {
  Script script;
  add_witnesses(script);
  script.call("Torch.matmul.1.forward", {"b0", "w1"}, fault_before ? "B" : "b1");
  for (const char* call : {"0", "1", "2"}) {
    script.call(fmt::format("Tensor.mul_.{}.forward", call), {std::string("g") + call},
                std::string(mark) + call);
    script.dump.attributes(argument("other", "float", number));
  }
  return script;
}

TEST_CASE("arguments: one wrong number that several calls are given is one fault") {
  const Localisation found = run(scaled(false, "0.25", "X"), scaled(false, "0.125", "y")).table.localisation;
  CHECK(first(found) == "input_fault Tensor.mul_.0.forward input.other step 0 rank 0");
  CHECK(found.culprits.size() == 1);
}

TEST_CASE("arguments: a number with all its digits that is off behind a fault was computed") {
  const char *target = "0.07977530802017159", *golden = "0.07989340868106128";
  const Localisation behind = run(scaled(true, target, "X"), scaled(false, golden, "y")).table.localisation;
  CHECK(first(behind) == "compute_fault Torch.matmul.1.forward output.0 step 0 rank 0");
  CHECK(behind.culprits.size() == 1);
  CHECK(run(scaled(true, "0.25", "X"), scaled(false, "0.125", "y")).table.localisation.culprits.size() == 2);
}

TEST_CASE("arguments: the name does not matter of what a call does read") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    add_witnesses(*side);
    side->op(
        "NPU._npu_paged_attention.0.forward",
        {known(Role::kwarg, "query", "a4"), known(Role::kwarg, "output_scale", side == &target ? "X" : "Y")});
  }
  CHECK(first(run(target, golden).table.localisation) ==
        "input_fault NPU._npu_paged_attention.0.forward input.output_scale step 0 rank 0");
}

// Statistics in the format of the run, off by less than it rounds.
TensorRecord rounded(Role role, const std::string& path, double rms, DType dtype) {
  TensorRecord record = measured(role, path, dtype == DType::bf16 ? rms * 1.001 : rms);
  record.dtype = dtype;
  return record;
}

// A run in one format whose call asks for another one, or for that of the run.
Script run_in(DType format, const std::string& asked_for) {
  Script script;
  script.op("Torch.matmul.0.forward",
            {rounded(Role::input, "0", 1, format), rounded(Role::output, "0", 2, format)});
  script.op("Torch.full.0.forward", {rounded(Role::output, "0", 3, format)});
  script.dump.attributes(argument("dtype", "torch.dtype", "\"torch." + asked_for + "\""));
  return script;
}

TEST_CASE(
    "arguments: the format of the run as an argument differs between runs of two precisions by design") {
  const Outcome by_design = run(run_in(DType::bf16, "bfloat16"), run_in(DType::f32, "float32"));
  CHECK(first(by_design.table.localisation) == "none");
  const Outcome of_its_own = run(run_in(DType::bf16, "float16"), run_in(DType::f32, "float32"));
  CHECK(first(of_its_own.table.localisation) == "input_fault Torch.full.0.forward input.dtype step 0 rank 0");
}

// A run whose scores are masked with a number that the call before makes.
Script masked_run(DType format, double lowest, double share) {
  Script script;
  script.op("Torch.matmul.0.forward",
            {rounded(Role::input, "0", 1, format), rounded(Role::output, "0", 2, format)});
  TensorRecord fill = rounded(Role::output, "0", 1, format), masked = fill, scores = fill;
  fill.stats.max = fill.stats.min = fill.stats.mean = lowest;
  fill.stats.l2norm = -lowest * 64;
  masked.stats.min = lowest;
  masked.stats.mean = lowest * share;
  masked.stats.l2norm = -lowest * 64 * std::sqrt(share);
  script.op("Torch.full.0.forward", {fill});
  script.dump.attributes(argument("fill_value", "float", fmt::format("{}", lowest)));
  fill.role = Role::input;
  script.op("Torch.where.0.forward", {fill, masked});
  masked.role = Role::input;
  script.op("Functional.softmax.0.forward", {masked, rounded(Role::output, "0", 1, format)});
  return script;
}

TEST_CASE(
    "arguments: a mask of the lowest number of each run's format is no fault, one of other elements is") {
  const Script golden = masked_run(DType::f32, -3.4028234663852886e+38, 0.5);
  CHECK(first(run(masked_run(DType::f16, -65504, 0.5), golden).table.localisation) == "none");
  CHECK(first(run(masked_run(DType::bf16, -3.3895313892515355e+38, 0.5), golden).table.localisation) ==
        "none");
  CHECK(first(run(masked_run(DType::f16, -65504, 0.4), golden).table.localisation) != "none");
  CHECK(first(run(masked_run(DType::f16, -1000, 0.5), golden).table.localisation) != "none");
}

TensorRecord of_shape(TensorRecord record, Shape shape, double norm) {
  record.shape = std::move(shape);
  record.stats.l2norm = norm;
  return record;
}

// The gradient of a bias: the sum over 64 rows of what came in, of which this much is left.
std::string first_with_bias_gradient(double target, double golden) {
  const auto script = [](double left, double noise) {
    Script made;
    made.op("Torch.matmul.0.forward",
            {measured(Role::input, "0", 1), measured(Role::output, "0", 1 + noise)});
    TensorRecord gradient = measured(Role::output, "2", left / 8);
    gradient.stats.mean = left / 100;
    made.op("Functional.linear.0.backward",
            {measured(Role::input, "0", 1 + noise), of_shape(std::move(gradient), {64}, left)});
    return made;
  };
  return first(run(script(target, 1e-7), script(golden, 0)).table.localisation);
}

TEST_CASE(
    "arguments: of a sum whose terms cancel only their rounding is left, of another one it is a fault") {
  CHECK(first_with_bias_gradient(2e-6, 3e-6) == "none");
  CHECK(first_with_bias_gradient(0.2, 0.3) != "none");
  CHECK(first_with_bias_gradient(200, 300) != "none");
}

std::string first_with_epsilon(const std::string& epsilon) {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const std::string mark = side == &target ? "x" : "a";
    side->call("Torch.matmul.0.forward", {"a0", "w0"}, mark + "1");
    side->call("Torch.softmax.0.forward", {mark + "1"}, mark + "2");
    side->call("Functional.layer_norm.0.forward", {mark + "2"}, mark + "3");
    side->dump.attributes(argument("eps", "float", side == &target ? epsilon : "0.00001"));
    side->call("Torch.matmul.1.forward", {mark + "3", "w1"}, mark + "4");
  }
  const std::map<std::string, double> of_rounding;
  const Outcome outcome = run(target, golden, nullptr, &of_rounding);
  const Localisation& found = outcome.table.localisation;
  return found.culprits.empty() ? "none" : first(found) + " " + found.culprits[0].confidence;
}

TEST_CASE(
    "arguments: another epsilon is told though rounding hides what it does, a number that the run computed "
    "not") {
  CHECK(first_with_epsilon("0.01") ==
        "input_fault Functional.layer_norm.0.forward input.eps step 0 rank 0 weak");
  CHECK(first_with_epsilon("1.003e-5") == "none");
}

}  // namespace
}  // namespace ulpscope
