// The backward formulas of fused operators against differences of the forward ones, which the vectors of
// tests/golden/fused_operators.py check.
#include <doctest/doctest.h>
#include <cmath>
#include <cstring>
#include <map>

#include "base/diagnostics.hpp"
#include "execute/random_input.hpp"
#include "plugin/host_services.hpp"
#include "plugin/outputs.hpp"
#include "plugin/registry.hpp"

extern "C" const ulpscope_plugin* entry_npu_reference(void);

using namespace ulpscope;

namespace {

struct Host {
  ThreadPool pool{1};
  Cancel cancel;
  Diagnostics diagnostics;
  HostServices host{pool, cancel, [](LogLevel, std::string_view) {}, "test"};
  Registry registry{{{}, {{"npu_reference", &entry_npu_reference}}, false}, host, diagnostics};
  ExecutorHandle executor = make();

  ExecutorHandle make() {
    auto made = registry.create_executor("npu_reference", "{}");
    REQUIRE(made.ok());
    return std::move(made).value();
  }
};

struct Input {
  std::string path;
  Shape shape;
  std::vector<double> values;
};

std::vector<double> numbers(const OutputTensor& tensor) {
  REQUIRE(tensor.dtype == DType::f64);
  std::vector<double> out(tensor.data.size() / sizeof(double));
  std::memcpy(out.data(), tensor.data.data(), tensor.data.size());
  return out;
}

struct Problem {
  std::string name, attributes;
  std::vector<Input> inputs;
  Host host;

  Problem(std::string op, std::string tree, const std::vector<Shape>& shapes)
      : name("NPU." + std::move(op) + ".0.forward"), attributes(std::move(tree)) {
    for (const Shape& shape : shapes) {
      RandomStream stream(7, name, std::to_string(inputs.size()));
      int64_t count = 1;
      for (const int64_t dim : shape) count *= dim;
      Input input{std::to_string(inputs.size()), shape, {}};
      for (int64_t i = 0; i < count; ++i) input.values.push_back(2 * stream.unit(53) - 1);
      inputs.push_back(std::move(input));
    }
  }

  Result<std::vector<OutputTensor>> run(Phase phase, const std::vector<Input>& given, const Input* gradient) {
    ulpscope_op_record op = {};
    op.struct_size = sizeof op;
    op.phase = static_cast<int32_t>(phase);
    op.name = to_str(name);
    const std::string type = name.substr(4, name.size() - 4 - 10);
    op.type = to_str(type);
    op.attributes_json = to_str(attributes);
    std::vector<ulpscope_tensor> views;
    const auto add = [&](const Input& input, int32_t role) {
      ulpscope_tensor view = {};
      view.role = role;
      view.dim_count = static_cast<uint32_t>(input.shape.size());
      view.dims = input.shape.data();
      view.path = to_str(input.path);
      view.view = {input.values.data(), input.values.size(), ULPSCOPE_F64, 0};
      view.flags = ULPSCOPE_GRAD_YES;
      views.push_back(view);
    };
    for (const Input& input : given) add(input, ULPSCOPE_INPUT);
    if (gradient != nullptr) add(*gradient, ULPSCOPE_GRADIENT);
    OutputCollector outputs(1 << 20);
    const Status status = host.executor.run(op, views, outputs.sink());
    if (!status.ok()) return status.error();
    return outputs.take();
  }

  // The sum of output 0 times weights.
  double weighted(const std::vector<Input>& given, const std::vector<double>& weights) {
    const auto outputs = run(Phase::forward, given, nullptr);
    REQUIRE_MESSAGE(outputs.ok(), (outputs.ok() ? "" : outputs.error().message));
    const std::vector<double> y = numbers((*outputs)[0]);
    REQUIRE(y.size() == weights.size());
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += y[i] * weights[i];
    return sum;
  }

  // The largest difference between a gradient and a central difference of the forward formula.
  double gradient_error() {
    const auto outputs = run(Phase::forward, inputs, nullptr);
    REQUIRE_MESSAGE(outputs.ok(), (outputs.ok() ? "" : outputs.error().message));
    Input gradient{"0", (*outputs)[0].shape, {}};
    RandomStream stream(8, name, "gradient");
    for (size_t i = 0; i < numbers((*outputs)[0]).size(); ++i)
      gradient.values.push_back(2 * stream.unit(53) - 1);
    const auto gradients = run(Phase::backward, inputs, &gradient);
    REQUIRE_MESSAGE(gradients.ok(), (gradients.ok() ? "" : gradients.error().message));
    REQUIRE(gradients->size() == inputs.size());
    constexpr double kStep = 1e-5;
    double worst = 0;
    for (const OutputTensor& each : *gradients) {
      const auto index = static_cast<size_t>(std::stoi(each.path.substr(6)));
      REQUIRE(each.shape == inputs[index].shape);
      const std::vector<double> g = numbers(each);
      for (size_t i = 0; i < g.size(); ++i) {
        std::vector<Input> up = inputs, down = inputs;
        up[index].values[i] += kStep;
        down[index].values[i] -= kStep;
        const double slope = (weighted(up, gradient.values) - weighted(down, gradient.values)) / (2 * kStep);
        worst = std::max(worst, std::fabs(slope - g[i]));
      }
    }
    return worst;
  }
};

// A tree with tensors 0 … count-1 in front of what else there is.
std::string tree(int count, const std::string& more = "", const std::string& kwargs = "") {
  std::string args;
  for (int i = 0; i < count; ++i)
    args += (i == 0 ? "" : ",") + std::string("{\"tensor\":") + std::to_string(i) + "}";
  return R"({"input":[)" + args + more + R"(],"kwarg":{)" + kwargs + "}}";
}

constexpr double kLimit = 1e-8;  // of a central difference with a step of 1e-5

}  // namespace

TEST_CASE("gradients of fused operators are the slopes of their formulas") {
  SUBCASE("npu_fast_gelu") { CHECK(Problem("npu_fast_gelu", tree(1), {{3, 4}}).gradient_error() < kLimit); }
  SUBCASE("npu_mish") { CHECK(Problem("npu_mish", tree(1), {{3, 4}}).gradient_error() < kLimit); }
  SUBCASE("npu_swiglu") { CHECK(Problem("npu_swiglu", tree(1), {{3, 8}}).gradient_error() < kLimit); }
  SUBCASE("npu_swiglu over the first dimension") {
    CHECK(Problem("npu_swiglu", tree(1, R"(,{"type":"int","value":0})"), {{4, 3}}).gradient_error() < kLimit);
  }
  SUBCASE("npu_rotary_mul") {
    CHECK(Problem("npu_rotary_mul", tree(3), {{2, 3, 2, 4}, {1, 3, 1, 4}, {1, 3, 1, 4}}).gradient_error() <
          kLimit);
  }
  SUBCASE("npu_rotary_mul with factors of half the length") {
    CHECK(Problem("npu_rotary_mul", tree(3), {{2, 3, 2, 4}, {1, 3, 1, 2}, {3, 1, 2}}).gradient_error() <
          kLimit);
  }
  SUBCASE("npu_rms_norm") {
    CHECK(Problem("npu_rms_norm", tree(2), {{3, 5}, {5}}).gradient_error() < kLimit);
  }
  SUBCASE("npu_linear") {
    CHECK(Problem("npu_linear", tree(3), {{2, 3, 4}, {5, 4}, {5}}).gradient_error() < kLimit);
  }
  SUBCASE("npu_confusion_transpose") {
    const std::string first = R"(,[0,2,1],{"type":"torch.Size","value":[2,12]},{"type":"bool","value":true})";
    CHECK(Problem("npu_confusion_transpose", tree(1, first), {{2, 3, 4}}).gradient_error() < kLimit);
    const std::string second = R"(,[1,0,2],[2,3,4],{"type":"bool","value":false})";
    CHECK(Problem("npu_confusion_transpose", tree(1, second), {{6, 4}}).gradient_error() < kLimit);
  }
  SUBCASE("npu_scaled_masked_softmax over a triangle") {
    const std::string more = R"(,null,{"type":"float","value":0.5},{"type":"bool","value":true})";
    CHECK(Problem("npu_scaled_masked_softmax", tree(1, more), {{1, 2, 4, 4}}).gradient_error() < kLimit);
  }
  SUBCASE("npu_fusion_attention with grouped heads and a band") {
    const std::string more = R"(,{"type":"int","value":4},{"type":"str","value":"BSH"})";
    const std::string band =
        R"("pre_tockens":{"type":"int","value":1},"next_tockens":{"type":"int","value":0})";
    CHECK(Problem("npu_fusion_attention", tree(3, more, band), {{2, 3, 8}, {2, 3, 4}, {2, 3, 4}})
              .gradient_error() < kLimit);
  }
}

TEST_CASE("arguments that an operator cannot take are named") {
  const auto message = [](Problem problem) {
    const auto outputs = problem.run(Phase::forward, problem.inputs, nullptr);
    REQUIRE(!outputs.ok());
    return outputs.error().message;
  };
  CHECK(message(Problem("npu_nowhere", tree(1), {{2}})) ==
        "there is no formula for npu_nowhere; other operators need the executor on LibTorch");
  CHECK(message(Problem("npu_swiglu", tree(1), {{3}})) == "a dimension of odd length cannot be halved");
  CHECK(message(Problem("npu_swiglu", tree(1, R"(,{"type":"int","value":4})"), {{4}})) ==
        "dimension 4 of a tensor of 1");
  CHECK(message(Problem("npu_linear", tree(2), {{2, 3}, {5, 4}})) == "a product of 3 columns with 4 rows");
  CHECK(message(Problem("npu_linear", tree(1), {{2, 3}})) ==
        "argument 'weight' is missing, expected a tensor");
  CHECK(message(Problem("npu_mish", tree(3), {{2}, {2}, {2}})) == "more than 1 arguments");
  CHECK(message(Problem("npu_fusion_attention",
                        tree(3, R"(,{"type":"int","value":1},{"type":"str","value":"TND"})"),
                        {{2, 3}, {2, 3}, {2, 3}})) == "layout 'TND', expected BSH, SBH, BSND or BNSD");
  CHECK(message(Problem("npu_confusion_transpose", tree(1, R"(,[1,0],[99999999999,99999999999],true)"),
                        {{2, 3}})) == "a shape that no tensor has");
}
