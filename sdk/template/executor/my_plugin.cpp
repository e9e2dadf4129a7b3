// An executor: runs a recorded operation again. Replace abs by what your library can run; README.md says what
// there is.
#include <ulpscope/plugin.hpp>

#include <cmath>

namespace {

class MyPlugin final : public ulpscope::Executor {
 public:
  static constexpr const char* kName = "my_plugin";
  static constexpr const char* kSummary = "runs abs forward on float32";

  MyPlugin(ulpscope::Host host, std::string_view) : host_(host) {}

  bool supports(const ulpscope_op_record& op) const override {
    return ulpscope::to_view(op.type) == "abs" && op.phase != ULPSCOPE_BACKWARD;
  }

  // Called from several threads. Inputs stay as they are; the host owns the memory of the outputs.
  void run(const ulpscope_op_record& op, const ulpscope_tensor* inputs, uint32_t input_count,
           ulpscope::OutputSink& out) const override {
    if (!supports(op)) throw ulpscope::Failure(ULPSCOPE_E_UNSUPPORTED, "expected an abs forward");
    if (input_count != 1 || inputs[0].view.dtype != ULPSCOPE_F32)
      throw ulpscope::Failure(ULPSCOPE_E_USAGE, "abs: expected one float32 input");
    const ulpscope_tensor& x = inputs[0];
    const auto* from = static_cast<const float*>(x.view.data);
    auto* to = static_cast<float*>(
        out.add("0", ulpscope::DType::f32, ulpscope::Shape(x.dims, x.dims + x.dim_count)));
    for (uint64_t i = 0; i < x.view.count; ++i) {
      if (i % kCancelStride == 0) host_.check_cancelled();
      to[i] = std::fabs(from[i]);
    }
  }

 private:
  static constexpr uint64_t kCancelStride = uint64_t{1} << 20;
  ulpscope::Host host_;
};

}  // namespace

ULPSCOPE_PLUGIN("my_plugin", "0.1.0", "me", "Apache-2.0", ULPSCOPE_COMPONENT_EXECUTOR(MyPlugin));
