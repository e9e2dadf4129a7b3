// An executor that breaks one rule of the contract, named by the variable
// ULPSCOPE_TEST_FAULT, and keeps all others.
#include <ulpscope/plugin.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

const std::string_view kFault = [] {
  const char* fault = std::getenv("ULPSCOPE_TEST_FAULT");
  return std::string_view(fault == nullptr ? "none" : fault);
}();

int runs = 0;

class BadExecutor final : public ulpscope::Executor {
 public:
  static constexpr const char* kName = "bad_executor";
  static constexpr const char* kSummary = "breaks one rule";

  BadExecutor(ulpscope::Host, std::string_view) {}
  bool supports(const ulpscope_op_record& op) const override {
    return kFault == "unknown" || ulpscope::to_view(op.type) == "abs";
  }
  void run(const ulpscope_op_record& op, const ulpscope_tensor* inputs, uint32_t input_count,
           ulpscope::OutputSink& out) const override {
    if (kFault != "unknown" && !supports(op)) throw ulpscope::Failure(ULPSCOPE_E_UNSUPPORTED, "expected abs");
    if (input_count == 0 && kFault == "crash") std::abort();
    if (op.call == 1 && kFault == "callscrash") std::abort();
    if (input_count != 1 || inputs[0].view.dtype != ULPSCOPE_F32)
      throw ulpscope::Failure(ULPSCOPE_E_USAGE, "expected one float32 input");
    if (kFault == "loud") std::puts("hello from an executor");
    const ulpscope_tensor& x = inputs[0];
    const auto* from = static_cast<const float*>(x.view.data);
    auto* to = static_cast<float*>(
        out.add("0", ulpscope::DType::f32, ulpscope::Shape(x.dims, x.dims + x.dim_count)));
    for (uint64_t i = 0; i < x.view.count; ++i) to[i] = std::fabs(from[i]);
    if (kFault == "twice") to[0] += static_cast<float>(runs++);
    if (kFault == "inputs") *const_cast<float*>(from) = 42;
  }
};

}  // namespace

ULPSCOPE_PLUGIN("bad_executor", "0.1.0", "test", "Apache-2.0", ULPSCOPE_COMPONENT_EXECUTOR(BadExecutor));
