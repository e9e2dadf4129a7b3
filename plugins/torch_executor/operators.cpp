#include "operators.hpp"

#include <ATen/ScalarOps.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace ulpscope::torch_executor {
namespace {

using c10::IValue;
using c10::TypeKind;

// Costs of conversions: the overload with the least sum is called. Exact matches are free; a number that
// becomes a tensor is dearer than any other, so that an overload for numbers is found first.
constexpr int kNo = -1;
constexpr int kSmall = 1, kLoose = 3, kItem = 10, kWrapped = 20;

// A python number in the place of a tensor takes no part in type promotion.
at::Tensor wrapped_number(const Value& value) {
  at::Tensor tensor = at::scalar_to_tensor(value.as_scalar());
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

bool is_single(const Value& value) { return value.kind == Kind::tensor && value.tensor.numel() == 1; }

int to_integer(const Value& value, int64_t& out) {
  if (value.kind == Kind::integer) return out = value.integer, 0;
  if (value.kind == Kind::boolean) return out = value.truth ? 1 : 0, 2;
  if (value.kind == Kind::dtype) return out = static_cast<int64_t>(value.dtype), kLoose;
  if (is_single(value) && !value.tensor.is_floating_point() && !value.tensor.is_complex())
    return out = value.tensor.item().toLong(), kItem;
  return kNo;
}

int to_real(const Value& value, double& out) {
  if (value.kind == Kind::real || value.kind == Kind::integer) {
    out = value.as_double();
    return value.kind == Kind::real ? 0 : kSmall;
  }
  if (is_single(value) && !value.tensor.is_complex()) return out = value.tensor.item().toDouble(), kItem;
  return kNo;
}

int to_flag(const Value& value, bool& out) {
  if (value.kind == Kind::boolean) return out = value.truth, 0;
  if (value.kind == Kind::integer) return out = value.integer != 0, kLoose;
  return kNo;
}

int to_scalar(const Value& value, IValue& out) {
  if (value.is_number()) {
    out = IValue(value.as_scalar());
    return value.kind == Kind::boolean ? kSmall : 0;
  }
  if (value.kind == Kind::tensor && value.tensor.dim() == 0) return out = IValue(value.tensor.item()), kItem;
  return kNo;
}

int to_tensor_value(const Value& value, IValue& out) {
  if (value.kind == Kind::tensor) return out = IValue(value.tensor), 0;
  if (value.is_number()) return out = IValue(wrapped_number(value)), kWrapped;
  return kNo;
}

int to_memory_format(const Value& value, IValue& out) {
  if (value.kind != Kind::memory_format) return kNo;
  const std::string& text = value.text;
  const auto ends = [&](const char* end) {
    const std::string tail(end);
    return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
  };
  const at::MemoryFormat format = ends("channels_last_3d")  ? at::MemoryFormat::ChannelsLast3d
                                  : ends("channels_last")   ? at::MemoryFormat::ChannelsLast
                                  : ends("preserve_format") ? at::MemoryFormat::Preserve
                                                            : at::MemoryFormat::Contiguous;
  out = IValue(static_cast<int64_t>(format));
  return 0;
}

// Where calls run: what stands in the place of every recorded device.
thread_local c10::Device here(c10::kCPU);

int convert(const Value& value, const c10::TypePtr& type, std::optional<int32_t> repeat, IValue& out);

// Each element to T by one; the sum of the costs.
template <class T, class List, class One>
int fill(const std::vector<Value>& items, List& list, One one) {
  int cost = 0;
  for (const Value& item : items) {
    T element{};
    const int part = one(item, element);
    if (part == kNo) return kNo;
    cost += part;
    list.push_back(element);
  }
  return cost;
}

int to_list(const Value& given, const c10::TypePtr& element, std::optional<int32_t> repeat, IValue& out) {
  Value single;
  const Value* value = &given;
  int cost = 0;
  if (given.kind != Kind::list) {
    // int[2] takes one number for all; a list of unknown length does not.
    if (!repeat || *repeat <= 0 || given.kind == Kind::none) return kNo;
    single = of(std::vector<Value>(static_cast<size_t>(*repeat), given));
    value = &single;
    cost = 2;
  }
  int part = kNo;
  switch (element->kind()) {
    case TypeKind::IntType:
    case TypeKind::SymIntType: {
      c10::List<int64_t> list;
      part = fill<int64_t>(value->items, list, to_integer);
      out = IValue(list);
      break;
    }
    case TypeKind::FloatType: {
      c10::List<double> list;
      part = fill<double>(value->items, list, to_real);
      out = IValue(list);
      break;
    }
    case TypeKind::BoolType: {
      c10::List<bool> list;
      part = fill<bool>(value->items, list, to_flag);
      out = IValue(list);
      break;
    }
    case TypeKind::TensorType: {
      c10::List<at::Tensor> list;
      part = fill<at::Tensor>(value->items, list, [](const Value& item, at::Tensor& to) {
        IValue made;
        const int one = to_tensor_value(item, made);
        if (one != kNo) to = made.toTensor();
        return one;
      });
      out = IValue(list);
      break;
    }
    case TypeKind::OptionalType: {
      c10::List<c10::optional<at::Tensor>> list;
      part = fill<c10::optional<at::Tensor>>(value->items, list,
                                             [](const Value& item, c10::optional<at::Tensor>& to) {
                                               if (item.kind == Kind::none) return 0;
                                               if (item.kind != Kind::tensor) return kNo;
                                               to = item.tensor;
                                               return 0;
                                             });
      out = IValue(list);
      break;
    }
    case TypeKind::NumberType: {
      c10::impl::GenericList list(element);
      part = fill<IValue>(value->items, list, to_scalar);
      out = IValue(list);
      break;
    }
    default:
      return kNo;
  }
  return part == kNo ? kNo : cost + part;
}

int convert(const Value& value, const c10::TypePtr& type, std::optional<int32_t> repeat, IValue& out) {
  switch (type->kind()) {
    case TypeKind::OptionalType:
      if (value.kind == Kind::none) return out = IValue(), 0;
      return convert(value, type->castRaw<c10::OptionalType>()->getElementType(), repeat, out);
    case TypeKind::TensorType:
      return to_tensor_value(value, out);
    case TypeKind::NumberType:
      return to_scalar(value, out);
    case TypeKind::IntType:
    case TypeKind::SymIntType: {
      int64_t integer = 0;
      const int cost = to_integer(value, integer);
      out = IValue(integer);
      return cost;
    }
    case TypeKind::FloatType: {
      double real = 0;
      const int cost = to_real(value, real);
      out = IValue(real);
      return cost;
    }
    case TypeKind::BoolType: {
      bool flag = false;
      const int cost = to_flag(value, flag);
      out = IValue(flag);
      return cost;
    }
    case TypeKind::StringType:
      if (value.kind != Kind::text) return kNo;
      return out = IValue(value.text), 0;
    case TypeKind::ScalarTypeType:
      if (value.kind != Kind::dtype) return kNo;
      return out = IValue(static_cast<int64_t>(value.dtype)), 0;
    case TypeKind::MemoryFormatType:
      return to_memory_format(value, out);
    case TypeKind::DeviceObjType:
      // Named in a text as often as by an object; where the call runs is not its own choice.
      if (value.kind != Kind::device && value.kind != Kind::text) return kNo;
      return out = IValue(here), 0;
    case TypeKind::ListType:
      return to_list(value, type->castRaw<c10::ListType>()->getElementType(), repeat, out);
    default:
      return kNo;
  }
}

// Python's names of arguments for those of the schema.
std::string schema_name(const std::string& keyword) {
  constexpr std::pair<const char*, const char*> kRenames[] = {
      {"input", "self"},  {"axis", "dim"},
      {"axes", "dims"},   {"keepdims", "keepdim"},
      {"x", "self"},      {"a", "self"},
      {"x1", "self"},     {"x2", "other"},
      {"tensor", "self"}, {"split_size_or_sections", "split_size"}};
  for (const auto& [from, to] : kRenames)
    if (keyword == from) return to;
  return keyword;
}

struct Binding {
  std::shared_ptr<torch::jit::Operator> op;
  torch::jit::Stack stack;
  int cost = 0;
};

std::optional<int32_t> repeat_of(const c10::Argument& argument) {
  const auto count = argument.N();
  return count ? std::optional<int32_t>(*count) : std::nullopt;
}

// Arguments given one by one where the schema has one list: view(2, 3), block_diag(a, b).
std::optional<std::vector<Value>> collapsed(const c10::FunctionSchema& schema,
                                            const std::vector<Value>& args) {
  size_t positional = 0;
  for (const c10::Argument& argument : schema.arguments()) positional += argument.kwarg_only() ? 0 : 1;
  if (positional == 0) return std::nullopt;
  const bool has_self = schema.arguments()[0].name() == "self" && positional > 1;
  const size_t at = has_self ? 1 : positional - 1;
  if (args.size() <= at || (has_self && positional != 2)) return std::nullopt;
  const c10::Argument& last = schema.arguments()[at];
  c10::TypePtr type = last.real_type();
  if (type->kind() == TypeKind::OptionalType) type = type->castRaw<c10::OptionalType>()->getElementType();
  if (type->kind() != TypeKind::ListType) return std::nullopt;
  std::vector<Value> out(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(at));
  std::vector<Value> rest(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  if (rest.size() == 1 && rest[0].kind == Kind::list) return std::nullopt;
  out.push_back(of(std::move(rest)));
  return out;
}

// The keywords by the names of the schema; nothing when one has no place in it.
struct Assigned {
  std::vector<const Value*> values;
  bool ok = true;
};

Assigned assign(const c10::FunctionSchema& schema, const std::vector<Value>& args, const Keywords& kwargs) {
  const auto& parameters = schema.arguments();
  Assigned out;
  out.values.resize(parameters.size());
  size_t position = 0;
  for (size_t i = 0; i < parameters.size() && position < args.size(); ++i)
    if (!parameters[i].kwarg_only()) out.values[i] = &args[position++];
  if (position < args.size()) return {{}, false};
  for (const auto& [name, value] : kwargs) {
    if (name == "requires_grad" || (name == "out" && value.kind == Kind::none)) continue;
    if (name == "out") {
      size_t index = 0;
      const bool many = value.kind == Kind::list;
      for (size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].is_out()) {
          if (index >= (many ? value.items.size() : 1)) return {{}, false};
          out.values[i] = many ? &value.items[index] : &value;
          ++index;
        }
      if (index != (many ? value.items.size() : 1)) return {{}, false};
      continue;
    }
    const auto find = [&](const std::string& wanted) {
      return std::find_if(parameters.begin(), parameters.end(),
                          [&](const c10::Argument& argument) { return argument.name() == wanted; });
    };
    auto place = find(name);
    if (place == parameters.end()) place = find(schema_name(name));
    if (place == parameters.end()) {
      // Options that change nothing here and that an overload need not have.
      if (value.kind == Kind::none || name == "device" || name == "layout" || name == "pin_memory") continue;
      return {{}, false};
    }
    const Value*& slot = out.values[static_cast<size_t>(place - parameters.begin())];
    if (slot != nullptr) return {{}, false};
    slot = &value;
  }
  return out;
}

std::optional<Binding> bind_to(const std::shared_ptr<torch::jit::Operator>& op,
                               const std::vector<Value>& args, const Keywords& kwargs) {
  const c10::FunctionSchema& schema = op->schema();
  const Assigned assigned = assign(schema, args, kwargs);
  if (!assigned.ok) return std::nullopt;
  Binding binding{op, {}, 0};
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (assigned.values[i] == nullptr) {
      if (!argument.default_value()) return std::nullopt;
      binding.stack.push_back(*argument.default_value());
      continue;
    }
    IValue made;
    const int cost = convert(*assigned.values[i], argument.real_type(), repeat_of(argument), made);
    if (cost == kNo) return std::nullopt;
    binding.cost += cost;
    binding.stack.push_back(std::move(made));
  }
  return binding;
}

std::optional<Binding> bind(const std::string& name, const std::vector<Value>& args, const Keywords& kwargs) {
  std::optional<Binding> best;
  const auto consider = [&](std::optional<Binding> candidate, int extra) {
    if (!candidate) return;
    candidate->cost += extra;
    if (!best || candidate->cost < best->cost) best = std::move(candidate);
  };
  for (const auto& op : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name))) {
    consider(bind_to(op, args, kwargs), 0);
    if (const auto list = collapsed(op->schema(), args)) consider(bind_to(op, *list, kwargs), kSmall);
  }
  return best;
}

}  // namespace

void set_device(const c10::Device& device) { here = device; }

bool has_operator(const std::string& name) {
  return !torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)).empty();
}

bool try_operator(const std::string& name, const std::vector<Value>& args, const Keywords& kwargs,
                  c10::IValue& result) {
  std::optional<Binding> binding = bind(name, args, kwargs);
  if (!binding) return false;
  binding->op->getOperation()(binding->stack);
  if (binding->stack.size() == 1) {
    result = std::move(binding->stack[0]);
  } else {
    result = c10::ivalue::Tuple::create(std::move(binding->stack));
  }
  return true;
}

c10::IValue call_operator(const std::string& name, const std::vector<Value>& args, const Keywords& kwargs) {
  c10::IValue result;
  if (try_operator(name, args, kwargs, result)) return result;
  std::string given;
  for (const Value& value : args) given += (given.empty() ? "" : ", ") + describe(value);
  for (const auto& [key, value] : kwargs) given += (given.empty() ? "" : ", ") + key + "=" + describe(value);
  throw Failure(ULPSCOPE_E_UNSUPPORTED, has_operator(name)
                                            ? "no overload of " + name + " takes (" + given + ")"
                                            : "this LibTorch has no operator " + name);
}

Value from_result(const c10::IValue& result) {
  if (result.isTensor()) return result.toTensor().defined() ? of(result.toTensor()) : Value();
  if (result.isInt()) return of(result.toInt());
  if (result.isDouble()) return of(result.toDouble());
  if (result.isBool()) return of(result.toBool());
  if (result.isString()) return of(result.toStringRef().c_str());
  if (result.isTuple() || result.isList()) {
    Value list = of(std::vector<Value>());
    if (result.isTuple()) {
      for (const c10::IValue& item : result.toTupleRef().elements()) list.items.push_back(from_result(item));
    } else {
      for (const c10::IValue& item : result.toListRef()) list.items.push_back(from_result(item));
    }
    return list;
  }
  return {};
}

}  // namespace ulpscope::torch_executor
