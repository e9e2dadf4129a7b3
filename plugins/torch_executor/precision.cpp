#include "precision.hpp"

#include <cstring>
#include <functional>
#include <set>

namespace ulpscope::torch_executor {
namespace {

bool is_low(at::ScalarType type) { return type == at::kHalf || type == at::kBFloat16; }
bool counts(at::ScalarType type) { return is_low(type) || type == at::kFloat; }

void for_each_value(Value& value, const std::function<void(Value&)>& visit) {
  visit(value);
  if (value.kind == Kind::list)
    for (Value& item : value.items) for_each_value(item, visit);
}

void for_each_value(Call& call, const std::function<void(Value&)>& visit) {
  for (Value& value : call.args) for_each_value(value, visit);
  for (auto& keyword : call.kwargs) for_each_value(keyword.second, visit);
}

std::set<at::ScalarType> types_of(Call& call) {
  std::set<at::ScalarType> types;
  for_each_value(call, [&](Value& value) {
    if (value.kind == Kind::tensor && counts(value.tensor.scalar_type()))
      types.insert(value.tensor.scalar_type());
  });
  return types;
}

bool is_rounded_convolution(const Call& call) { return call.name == "conv1d" || call.name == "conv2d"; }

at::ScalarType doubled(at::ScalarType type) {
  if (c10::isComplexType(type)) return at::kComplexDouble;
  return c10::isFloatingType(type) ? at::kDouble : type;
}

}  // namespace

std::optional<at::ScalarType> mixed_low_type(Call& call) {
  const std::set<at::ScalarType> types = types_of(call);
  if (types.size() < 2) return std::nullopt;
  for (const at::ScalarType type : types)
    if (is_low(type)) return type;
  return std::nullopt;
}

at::Tensor raised(const at::Tensor& tensor, Precision precision) {
  const at::ScalarType type = tensor.scalar_type();
  if (precision == Precision::float64) return tensor.to(doubled(type));
  if (precision == Precision::native) return tensor;
  if (is_low(type)) return tensor.to(at::kFloat);
  return type == at::kFloat ? tensor.to(at::kDouble) : tensor;
}

void raise(Call& call, Precision precision, bool hf32) {
  if (precision == Precision::native || call.name == "type_as") return;
  if (precision == Precision::float64) {
    for_each_value(call, [](Value& value) {
      if (value.kind == Kind::tensor) value.tensor = raised(value.tensor, Precision::float64);
      if (value.kind == Kind::dtype) value.dtype = doubled(value.dtype);
    });
    return;
  }
  const std::set<at::ScalarType> types = types_of(call);
  if (types.empty() || (hf32 && is_rounded_convolution(call) && types.count(at::kFloat) > 0)) return;
  for_each_value(call, [&](Value& value) {
    if (value.kind != Kind::tensor || !counts(value.tensor.scalar_type())) return;
    value.tensor = types.size() > 1 ? value.tensor.to(at::kFloat) : raised(value.tensor, Precision::raised);
  });
}

at::Tensor round_to_hf32(const at::Tensor& tensor) {
  at::Tensor out = tensor.contiguous().clone();
  auto* numbers = out.data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); ++i) {
    int32_t code = 0;
    std::memcpy(&code, numbers + i, sizeof code);
    code = static_cast<int32_t>(static_cast<uint32_t>(((code >> 11) + 1) >> 1) << 12);
    std::memcpy(numbers + i, &code, sizeof code);
  }
  return out;
}

void adapt_inputs(Call& call, bool hf32) {
  const bool histc = call.name == "histc", entropy = call.name == "cross_entropy";
  const bool rounds = hf32 && is_rounded_convolution(call);
  if (!histc && !entropy && !rounds) return;
  for_each_value(call, [&](Value& value) {
    if (value.kind != Kind::tensor) return;
    const at::ScalarType type = value.tensor.scalar_type();
    if (histc && c10::isIntegralType(type, false)) value.tensor = value.tensor.to(at::kFloat);
    if (entropy && type == at::kInt) value.tensor = value.tensor.to(at::kLong);
    if (rounds && type == at::kFloat) value.tensor = round_to_hf32(value.tensor);
  });
}

}  // namespace ulpscope::torch_executor
