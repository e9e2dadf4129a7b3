#include "values.hpp"

#include <ulpscope/half.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace ulpscope::torch_executor {
namespace {

using nlohmann::json;

constexpr size_t kMostDepth = 64;  // containers in one argument, as the reader of dumps has it

struct TypePair {
  DType dtype;
  at::ScalarType type;
};
constexpr TypePair kTypes[] = {
    {DType::b8, at::kBool},           {DType::u8, at::kByte},         {DType::i8, at::kChar},
    {DType::i16, at::kShort},         {DType::i32, at::kInt},         {DType::i64, at::kLong},
    {DType::f16, at::kHalf},          {DType::bf16, at::kBFloat16},   {DType::f32, at::kFloat},
    {DType::f64, at::kDouble},        {DType::c32, at::kComplexHalf}, {DType::c64, at::kComplexFloat},
    {DType::c128, at::kComplexDouble}};

// Numbers that JSON has no form for stand as texts in an argument tree.
std::optional<double> number_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

Value unknown(std::string text) {
  Value value;
  value.kind = Kind::unknown;
  value.text = std::move(text);
  return value;
}

Value number_value(const json& member) {
  if (member.is_number_unsigned() && member.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()})
    return of(member.get<double>());
  if (member.is_number_integer()) return of(member.get<int64_t>());
  if (member.is_boolean()) return of(member.get<bool>());
  if (const auto number = number_of(member)) return of(*number);
  return unknown("a number of unknown form");
}

class Reader {
 public:
  Reader(const ulpscope_tensor* inputs, uint32_t input_count) : inputs_(inputs), count_(input_count) {}

  void section(int32_t role) {
    role_ = role;
    path_.clear();
  }

  Value child(const std::string& part, const json& node, size_t depth) {
    const size_t length = path_.size();
    if (length > 0) path_ += '.';
    path_ += part;
    Value value = read(node, depth);
    path_.resize(length);
    return value;
  }

 private:
  Value read(const json& node, size_t depth) {
    if (depth > kMostDepth)
      throw Failure(ULPSCOPE_E_FORMAT, "argument '" + path_ + "' is nested deeper than 64 containers");
    if (node.is_null()) return {};
    if (node.is_array()) {
      Value list = of(std::vector<Value>());
      for (size_t i = 0; i < node.size(); ++i)
        list.items.push_back(child(std::to_string(i), node[i], depth + 1));
      return list;
    }
    if (!node.is_object()) return node.is_string() ? of(node.get<std::string>().c_str()) : number_value(node);
    if (const auto tensor = node.find("tensor"); tensor != node.end() && tensor->is_number()) return find();
    const auto type = node.find("type");
    if (type == node.end() || !type->is_string())
      return unknown(node.empty() ? "a value that the dump does not describe" : "a container with names");
    return leaf(type->get<std::string>(), node);
  }

  // The input of this section and path.
  Value find() const {
    for (uint32_t i = 0; i < count_; ++i)
      if (inputs_[i].role == role_ && to_view(inputs_[i].path) == path_) return of(to_tensor(inputs_[i]));
    throw Failure(ULPSCOPE_E_USAGE, "tensor '" + path_ + "' of the call was not given");
  }

  static Value leaf(const std::string& type, const json& node) {
    const json member = node.value("value", json());
    if (type == "torch.memory_format") {
      Value value;
      value.kind = Kind::memory_format;
      value.text = node.contains("format") && node["format"].is_string() ? node["format"].get<std::string>()
                   : member.is_string()                                  ? member.get<std::string>()
                                                                         : "";
      return value;
    }
    if (type == "NoneType") return {};
    if (type == "ellipsis") {
      Value value;
      value.kind = Kind::ellipsis;
      return value;
    }
    if (type == "slice" || type == "torch.Size") {
      if (!member.is_array()) return unknown(type + " without a list");
      Value value = of(std::vector<Value>());
      for (const json& item : member) value.items.push_back(item.is_null() ? Value() : number_value(item));
      if (type == "slice") {
        value.kind = Kind::slice;
        value.items.resize(3);
      }
      return value;
    }
    if (type == "torch.dtype" && member.is_string()) {
      const auto known = scalar_type(member.get<std::string>());
      return known ? of(*known) : unknown("dtype " + member.get<std::string>());
    }
    if (type == "torch.device") {
      Value value;
      value.kind = Kind::device;
      return value;
    }
    return plain(type, member);
  }

  // Python's own types and numpy's, with or without their prefix.
  static Value plain(std::string type, const json& member) {
    if (type.rfind("numpy.", 0) == 0) type.erase(0, 6);
    const auto starts = [&](const char* text) { return type.rfind(text, 0) == 0; };
    if (starts("bool") && (member.is_boolean() || member.is_number_integer()))
      return of(member.is_boolean() ? member.get<bool>() : member.get<int64_t>() != 0);
    if (starts("str") && member.is_string()) return of(member.get<std::string>().c_str());
    if (starts("int") || starts("uint")) return number_value(member);
    if (starts("float"))
      if (const auto number = number_of(member)) return of(*number);
    return unknown("a value of type " + type.substr(0, 80));
  }

  const ulpscope_tensor* inputs_;
  uint32_t count_;
  int32_t role_ = ULPSCOPE_INPUT;
  std::string path_;
};

// "Functional.linear.3.forward": the type, and the name between it and the number.
void split_name(const ulpscope_op_record& op, Call& call) {
  std::string name(to_view(op.name));
  const auto drop_last = [&name] {
    const size_t dot = name.rfind('.');
    std::string last = dot == std::string::npos ? name : name.substr(dot + 1);
    name.resize(dot == std::string::npos ? 0 : dot);
    return last;
  };
  const size_t last_dot = name.rfind('.');
  const std::string last = last_dot == std::string::npos ? name : name.substr(last_dot + 1);
  if (last == "forward" || last == "backward") drop_last();
  const size_t number_dot = name.rfind('.');
  if (number_dot != std::string::npos &&
      name.find_first_not_of("0123456789", number_dot + 1) == std::string::npos)
    drop_last();
  const size_t first = name.find('.');
  if (first == std::string::npos) {
    call.name = to_view(op.type);
    return;
  }
  call.type = name.substr(0, first);
  call.name = name.substr(first + 1);
}

// A call without an argument tree has flat tensors only: their paths say where they stand.
void read_flat(Call& call, const ulpscope_tensor* inputs, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const std::string path(to_view(inputs[i].path));
    if (inputs[i].role == ULPSCOPE_INPUT) call.args.push_back(of(to_tensor(inputs[i])));
    if (inputs[i].role == ULPSCOPE_KWARG) call.kwargs.emplace_back(path, of(to_tensor(inputs[i])));
  }
}

void collect(Value& value, const std::string& path, bool keyword, std::vector<TensorPlace>& out) {
  if (value.kind == Kind::tensor) out.push_back({&value, path, keyword, false});
  if (value.kind == Kind::list)
    for (size_t i = 0; i < value.items.size(); ++i)
      collect(value.items[i], path + "." + std::to_string(i), keyword, out);
}

}  // namespace

at::Scalar Value::as_scalar() const {
  if (kind == Kind::boolean) return truth;
  return kind == Kind::real ? at::Scalar(real) : at::Scalar(integer);
}

Value of(bool truth) {
  Value value;
  value.kind = Kind::boolean;
  value.truth = truth;
  return value;
}
Value of(int64_t integer) {
  Value value;
  value.kind = Kind::integer;
  value.integer = integer;
  return value;
}
Value of(double real) {
  Value value;
  value.kind = Kind::real;
  value.real = real;
  return value;
}
Value of(const char* text) {
  Value value;
  value.kind = Kind::text;
  value.text = text;
  return value;
}
Value of(at::Tensor tensor) {
  Value value;
  value.kind = Kind::tensor;
  value.tensor = std::move(tensor);
  return value;
}
Value of(at::ScalarType dtype) {
  Value value;
  value.kind = Kind::dtype;
  value.dtype = dtype;
  return value;
}
Value of(std::vector<Value> items) {
  Value value;
  value.kind = Kind::list;
  value.items = std::move(items);
  return value;
}
Value of(const std::vector<int64_t>& integers) {
  Value value;
  value.kind = Kind::list;
  for (const int64_t integer : integers) value.items.push_back(of(integer));
  return value;
}

Value* Call::keyword(const std::string& keyword_name) {
  for (auto& [key, value] : kwargs)
    if (key == keyword_name) return &value;
  return nullptr;
}

std::optional<at::ScalarType> scalar_type(DType dtype) {
  for (const TypePair& pair : kTypes)
    if (pair.dtype == dtype) return pair.type;
  return std::nullopt;
}

std::optional<at::ScalarType> scalar_type(const std::string& name) {
  if (name == "torch.half") return at::kHalf;
  if (name == "torch.float") return at::kFloat;
  if (name == "torch.double") return at::kDouble;
  if (name == "torch.long") return at::kLong;
  if (name == "torch.int") return at::kInt;
  return scalar_type(dtype_from_name(name));
}

DType dtype_of(at::ScalarType type) {
  for (const TypePair& pair : kTypes)
    if (pair.type == type) return pair.dtype;
  return DType::none;
}

at::Tensor to_tensor(const ulpscope_tensor& input) {
  const auto dtype = static_cast<DType>(input.view.dtype);
  const at::IntArrayRef shape(input.dims, input.dim_count);
  const uint64_t count = input.view.count;
  const bool narrow = is_floating(dtype) && bits(dtype) == 8 && dtype != DType::f4_e2m1x2;
  const auto type = scalar_type(dtype);
  if (!narrow && !type)
    throw Failure(ULPSCOPE_E_UNSUPPORTED, "tensor '" + std::string(to_view(input.path)) +
                                              "': LibTorch has no element type " + name(dtype));
  at::Tensor tensor = at::empty(shape, at::TensorOptions().dtype(narrow ? at::kFloat : *type));
  if (static_cast<uint64_t>(tensor.numel()) != count)
    throw Failure(ULPSCOPE_E_USAGE, "tensor '" + std::string(to_view(input.path)) +
                                        "': " + std::to_string(count) + " elements, its shape has " +
                                        std::to_string(tensor.numel()));
  if (!narrow) {
    if (count > 0) std::memcpy(tensor.data_ptr(), input.view.data, count * size_bytes(dtype));
    return tensor;
  }
  const auto* codes = static_cast<const uint8_t*>(input.view.data);
  auto* to = tensor.data_ptr<float>();
  for (uint64_t i = 0; i < count; ++i) to[i] = static_cast<float>(float_to_double(dtype, codes[i]));
  return tensor;
}

Call read_call(const ulpscope_op_record& op, const ulpscope_tensor* inputs, uint32_t input_count) {
  Call call;
  split_name(op, call);
  const std::string_view text = to_view(op.attributes_json);
  const json tree = text.empty() ? json() : json::parse(text, nullptr, false);
  if (tree.is_discarded()) throw Failure(ULPSCOPE_E_FORMAT, "the argument tree is not JSON");
  if (!tree.is_object() || (!tree.contains("input") && !tree.contains("kwarg") && !tree.contains("output"))) {
    read_flat(call, inputs, input_count);
    return call;
  }
  Reader reader(inputs, input_count);
  reader.section(ULPSCOPE_INPUT);
  if (const auto args = tree.find("input"); args != tree.end() && args->is_array())
    for (size_t i = 0; i < args->size(); ++i)
      call.args.push_back(reader.child(std::to_string(i), (*args)[i], 0));
  reader.section(ULPSCOPE_KWARG);
  if (const auto kwargs = tree.find("kwarg"); kwargs != tree.end() && kwargs->is_object())
    for (const auto& [key, node] : kwargs->items()) call.kwargs.emplace_back(key, reader.child(key, node, 0));
  return call;
}

std::vector<TensorPlace> tensor_places(Call& call, const ulpscope_tensor* inputs, uint32_t input_count) {
  std::vector<TensorPlace> places;
  for (size_t i = 0; i < call.args.size(); ++i) collect(call.args[i], std::to_string(i), false, places);
  for (auto& [key, value] : call.kwargs) collect(value, key, true, places);
  for (TensorPlace& place : places)
    for (uint32_t i = 0; i < input_count; ++i)
      if (to_view(inputs[i].path) == place.path &&
          inputs[i].role == (place.is_keyword ? ULPSCOPE_KWARG : ULPSCOPE_INPUT))
        place.wants_gradient = (inputs[i].flags & ULPSCOPE_GRAD_YES) != 0;
  return places;
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return value.truth ? "True" : "False";
    case Kind::integer:
      return "int " + std::to_string(value.integer);
    case Kind::real:
      return "float " + std::to_string(value.real);
    case Kind::text:
      return "str '" + value.text.substr(0, 40) + "'";
    case Kind::tensor: {
      std::string shape;
      for (const int64_t dim : value.tensor.sizes())
        shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
      return std::string("tensor ") + name(dtype_of(value.tensor.scalar_type())) + " [" + shape + "]";
    }
    case Kind::list: {
      std::string text;
      for (size_t i = 0; i < value.items.size() && i < 4; ++i)
        text += (i == 0 ? "" : ", ") + describe(value.items[i]);
      return "list [" + text + (value.items.size() > 4 ? ", …]" : "]");
    }
    case Kind::slice:
      return "slice";
    case Kind::ellipsis:
      return "...";
    case Kind::dtype:
      return std::string("dtype ") + name(dtype_of(value.dtype));
    case Kind::device:
      return "device";
    case Kind::memory_format:
      return "memory format " + value.text.substr(0, 40);
    case Kind::unknown:
      return value.text;
  }
  return "?";
}

Value read_literal(const std::string& json_text) {
  const json node = json::parse(json_text, nullptr, false);
  if (node.is_discarded()) throw Failure(ULPSCOPE_E_FORMAT, "not a literal: " + json_text);
  Reader reader(nullptr, 0);
  return reader.child("literal", node, 0);
}

}  // namespace ulpscope::torch_executor
