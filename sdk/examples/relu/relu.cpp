// An executor: runs a recorded "relu" again on the CPU, max(x, 0) of one float32 tensor. NaN stays NaN.
#include <ulpscope/plugin.hpp>

namespace {

class Relu final : public ulpscope::Executor {
 public:
  static constexpr const char* kName = "relu";
  static constexpr const char* kSummary = "runs relu forward on float32";

  Relu(ulpscope::Host host, std::string_view) : host_(host) {}

  bool supports(const ulpscope_op_record& op) const override {
    return ulpscope::to_view(op.type) == "relu" && op.phase != ULPSCOPE_BACKWARD;
  }

  void run(const ulpscope_op_record& op, const ulpscope_tensor* inputs, uint32_t input_count,
           ulpscope::OutputSink& out) const override {
    if (!supports(op)) throw ulpscope::Failure(ULPSCOPE_E_UNSUPPORTED, "expected a relu forward");
    if (input_count != 1 || inputs[0].view.dtype != ULPSCOPE_F32)
      throw ulpscope::Failure(ULPSCOPE_E_USAGE, "relu: expected one float32 input");
    const ulpscope_tensor& x = inputs[0];
    const auto* from = static_cast<const float*>(x.view.data);
    auto* to = static_cast<float*>(
        out.add("0", ulpscope::DType::f32, ulpscope::Shape(x.dims, x.dims + x.dim_count)));
    for (uint64_t i = 0; i < x.view.count; ++i) {
      if (i % kCancelStride == 0) host_.check_cancelled();
      to[i] = from[i] < 0 ? 0 : from[i];
    }
  }

 private:
  static constexpr uint64_t kCancelStride = uint64_t{1} << 20;
  ulpscope::Host host_;
};

}  // namespace

ULPSCOPE_PLUGIN("relu", "0.1.0", "example", "MIT", ULPSCOPE_COMPONENT_EXECUTOR(Relu));
