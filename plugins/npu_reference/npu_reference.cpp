// The executor "npu_reference": the fused operators of an NPU in double, by their formulas. The golden of
// check and replay for what no other device has.
#include <ulpscope/half.hpp>
#include <ulpscope/plugin.hpp>

#include <cstring>

#include "formulas.hpp"

namespace ulpscope::npu_reference {
namespace {

// Names that callers use for one parameter.
const std::map<std::string, std::string>& aliases() {
  static const std::map<std::string, std::string> names = {
      {"epsilon", "eps"}, {"scale_value", "scale"}, {"num_groups", "group"}, {"x1", "self"}};
  return names;
}

// Where an operator calls its parameter otherwise than this table does.
std::map<std::string, std::string> aliases_of(const Formula& formula) {
  std::map<std::string, std::string> out = aliases();
  const auto has = [&](const std::string& name) {
    return std::find(formula.parameters.begin(), formula.parameters.end(), name) != formula.parameters.end();
  };
  for (const char* name : {"self", "input", "x"})
    for (const char* mine : {"self", "input", "x"})
      if (has(mine) && !has(name)) out[name] = mine;
  // Adam's epsilon is called so by its operators.
  if (has("epsilon")) out.erase("epsilon");
  return out;
}

void emit(OutputSink& out, const std::string& path, const Array& array, DType type) {
  const bool integer = array.dtype == DType::i64;
  void* to = out.add(path, integer ? DType::i64 : type, array.shape);
  for (size_t i = 0; i < array.v.size(); ++i) {
    const uint64_t code = integer ? static_cast<uint64_t>(static_cast<int64_t>(array.v[i]))
                                  : float_from_double(type, array.v[i]);
    const size_t size = integer ? sizeof code : size_bytes(type);
    std::memcpy(static_cast<char*>(to) + i * size, &code, size);
  }
}

}  // namespace

class NpuReference final : public Executor {
 public:
  static constexpr const char* kName = "npu_reference";
  static constexpr const char* kSummary = "fused operators of an NPU in double, by their formulas";

  NpuReference(Host, std::string_view) {}

  bool supports(const ulpscope_op_record& op) const override {
    if (to_view(op.name).substr(0, 4) != "NPU.") return false;
    const auto found = formulas().find(operator_name(op));
    return found != formulas().end() && (op.phase != ULPSCOPE_BACKWARD || found->second.backward);
  }

  void run(const ulpscope_op_record& op, const ulpscope_tensor* inputs, uint32_t input_count,
           OutputSink& out) const override {
    const std::string name = operator_name(op);
    const auto found = formulas().find(name);
    if (to_view(op.name).substr(0, 4) != "NPU." || found == formulas().end())
      throw Failure(ULPSCOPE_E_UNSUPPORTED,
                    "there is no formula for " + name + "; other operators need the executor on LibTorch");
    const Formula& formula = found->second;
    const Arguments arguments(op, inputs, input_count, formula.parameters, aliases_of(formula));
    if (op.phase != ULPSCOPE_BACKWARD) {
      const std::vector<Array> results = formula.forward(arguments);
      for (size_t i = 0; i < results.size(); ++i)
        emit(out, std::to_string(i), results[i], arguments.golden_type());
      return;
    }
    if (!formula.backward)
      throw Failure(ULPSCOPE_E_UNSUPPORTED, "there is no formula for the backward of " + name);
    for (const auto& [parameter, gradient] : formula.backward(arguments)) {
      const Argument& argument = arguments.get(parameter);
      if (argument.kind == Argument::Kind::array && argument.wants_gradient)
        emit(out, argument.path, gradient, arguments.golden_type());
    }
  }
};

}  // namespace ulpscope::npu_reference

ULPSCOPE_PLUGIN("npu_reference", "0.1.0", "ulpscope", "Apache-2.0",
                ULPSCOPE_COMPONENT_EXECUTOR(ulpscope::npu_reference::NpuReference));
