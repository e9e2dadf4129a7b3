#include "arrays.hpp"

#include <ulpscope/half.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace ulpscope::npu_reference {
namespace {

using nlohmann::json;

constexpr size_t kMostDepth = 64;

int64_t product(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      throw Failure(ULPSCOPE_E_USAGE, "a shape that no tensor has");
  return count;
}

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

template <class T>
double integer_at(const void* data, uint64_t i) {
  T value{};
  std::memcpy(&value, static_cast<const char*>(data) + i * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

double element(const ulpscope_view& view, uint64_t i) {
  const auto dtype = static_cast<DType>(view.dtype);
  switch (dtype) {
    case DType::b8:
    case DType::u8:
      return integer_at<uint8_t>(view.data, i);
    case DType::i8:
      return integer_at<int8_t>(view.data, i);
    case DType::i16:
      return integer_at<int16_t>(view.data, i);
    case DType::i32:
      return integer_at<int32_t>(view.data, i);
    case DType::i64:
      return integer_at<int64_t>(view.data, i);
    default:
      break;
  }
  uint64_t code = 0;
  std::memcpy(&code, static_cast<const char*>(view.data) + i * size_bytes(dtype), size_bytes(dtype));
  return float_to_double(dtype, code);
}

Array to_array(const ulpscope_tensor& tensor) {
  const auto dtype = static_cast<DType>(tensor.view.dtype);
  const bool known = is_floating(dtype) || dtype == DType::b8 || dtype == DType::u8 || dtype == DType::i8 ||
                     dtype == DType::i16 || dtype == DType::i32 || dtype == DType::i64;
  if (!known)
    throw Failure(ULPSCOPE_E_UNSUPPORTED,
                  "tensor '" + std::string(to_view(tensor.path)) + "': no formula takes " + name(dtype));
  Array out;
  out.dtype = dtype;
  out.shape.assign(tensor.dims, tensor.dims + tensor.dim_count);
  if (static_cast<uint64_t>(product(out.shape)) != tensor.view.count)
    throw Failure(ULPSCOPE_E_USAGE,
                  "tensor '" + std::string(to_view(tensor.path)) + "' does not fit its shape");
  out.v.resize(tensor.view.count);
  for (uint64_t i = 0; i < tensor.view.count; ++i) out.v[i] = element(tensor.view, i);
  return out;
}

double special_number(const std::string& text) {
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

class Reader {
 public:
  Reader(const ulpscope_tensor* inputs, uint32_t count) : inputs_(inputs), count_(count) {}

  Argument read(const json& node, int32_t role, const std::string& path, size_t depth) const {
    if (depth > kMostDepth) throw Failure(ULPSCOPE_E_FORMAT, "argument '" + path + "' is nested too deep");
    Argument out;
    if (node.is_array()) {
      out.kind = Argument::Kind::list;
      for (size_t i = 0; i < node.size(); ++i)
        out.items.push_back(read(node[i], role, path + "." + std::to_string(i), depth + 1));
      return out;
    }
    if (!node.is_object()) return literal(node);
    if (node.contains("tensor")) return tensor(role, path);
    const json value = node.value("value", json());
    if (value.is_array()) return read(value, role, path, depth + 1);
    const std::string type = node.value("type", "");
    if (type == "float" && value.is_string()) {
      out.kind = Argument::Kind::number;
      out.number = special_number(value.get<std::string>());
      return out;
    }
    return literal(value);
  }

  Argument tensor(int32_t role, const std::string& path) const {
    for (uint32_t i = 0; i < count_; ++i) {
      if (inputs_[i].role != role || to_view(inputs_[i].path) != path) continue;
      Argument out;
      out.kind = Argument::Kind::array;
      out.array = to_array(inputs_[i]);
      out.path = (role == ULPSCOPE_KWARG ? "kwarg." : "input.") + path;
      out.wants_gradient = (inputs_[i].flags & ULPSCOPE_GRAD_YES) != 0;
      return out;
    }
    throw Failure(ULPSCOPE_E_USAGE, "tensor '" + path + "' of the call was not given");
  }

 private:
  static Argument literal(const json& value) {
    Argument out;
    if (value.is_boolean() || value.is_number()) {
      out.kind = Argument::Kind::number;
      out.number = value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<double>();
    } else if (value.is_string()) {
      out.kind = Argument::Kind::text;
      out.text = value.get<std::string>();
    }
    return out;
  }

  const ulpscope_tensor* inputs_;
  uint32_t count_;
};

}  // namespace

Array zeros(const Shape& shape) {
  Array out;
  out.shape = shape;
  out.v.resize(static_cast<size_t>(product(shape)));
  return out;
}

Array reshaped(const Array& x, const Shape& shape) {
  Shape full = shape, given = shape;
  for (int64_t& dim : given)
    if (dim == -1) dim = 1;
  const int64_t known = product(given);
  for (int64_t& dim : full)
    if (dim == -1 && known != 0) dim = x.size() / known;
  if (product(full) != x.size())
    throw Failure(ULPSCOPE_E_USAGE, "a shape holds another number of elements than the tensor");
  Array out = x;
  out.shape = full;
  return out;
}

Array permuted(const Array& x, const std::vector<int64_t>& order) {
  std::vector<bool> seen(x.shape.size());
  Shape shape;
  std::vector<int64_t> from;
  const auto strides = strides_of(x.shape);
  for (const int64_t axis : order) {
    const size_t dim = dimension(x, axis);
    if (seen[dim]) throw Failure(ULPSCOPE_E_USAGE, "a permutation names a dimension twice");
    seen[dim] = true;
    shape.push_back(x.shape[dim]);
    from.push_back(strides[dim]);
  }
  if (shape.size() != x.shape.size()) throw Failure(ULPSCOPE_E_USAGE, "a permutation lacks a dimension");
  Array out = zeros(shape);
  out.dtype = x.dtype;
  std::vector<int64_t> index(shape.size());
  for (double& value : out.v) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * from[d];
    value = x.v[static_cast<size_t>(at)];
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

namespace {

// Calls visit(big index, small index) for the element of the smaller shape that each of the bigger one meets.
template <class Visit>
void for_each_broadcast(const Shape& small, const Shape& big, Visit visit) {
  if (small.size() > big.size())
    throw Failure(ULPSCOPE_E_USAGE, "a tensor has more dimensions than the one it goes with");
  const size_t lead = big.size() - small.size();
  const auto strides = strides_of(small);
  std::vector<int64_t> step(big.size(), 0), index(big.size(), 0);
  for (size_t d = 0; d < small.size(); ++d) {
    if (small[d] != big[lead + d] && small[d] != 1)
      throw Failure(ULPSCOPE_E_USAGE, "a tensor of length " + std::to_string(small[d]) +
                                          " goes with one of length " + std::to_string(big[lead + d]));
    step[lead + d] = small[d] == 1 ? 0 : strides[d];
  }
  const int64_t count = product(big);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < big.size(); ++d) at += index[d] * step[d];
    visit(static_cast<size_t>(i), static_cast<size_t>(at));
    for (size_t d = big.size(); d-- > 0;) {
      if (++index[d] < big[d]) break;
      index[d] = 0;
    }
  }
}

}  // namespace

Array broadcast(const Array& x, const Shape& shape) {
  Array out = zeros(shape);
  out.dtype = x.dtype;
  for_each_broadcast(x.shape, shape, [&](size_t big, size_t small) { out.v[big] = x.v[small]; });
  return out;
}

Array summed_to(const Array& x, const Shape& shape) {
  Array out = zeros(shape);
  for_each_broadcast(shape, x.shape, [&](size_t big, size_t small) { out.v[small] += x.v[big]; });
  return out;
}

size_t dimension(const Array& x, int64_t dim) {
  const int64_t at = dim < 0 ? dim + x.dims() : dim;
  if (at < 0 || at >= x.dims())
    throw Failure(ULPSCOPE_E_USAGE,
                  "dimension " + std::to_string(dim) + " of a tensor of " + std::to_string(x.dims()));
  return static_cast<size_t>(at);
}

Rows rows_of(const Array& x, size_t dim) {
  Rows rows;
  for (size_t d = 0; d < x.shape.size(); ++d)
    (d < dim ? rows.outer : d == dim ? rows.length : rows.inner) *= x.shape[d];
  return rows;
}

Arguments::Arguments(const ulpscope_op_record& op, const ulpscope_tensor* inputs, uint32_t count,
                     const std::vector<std::string>& names,
                     const std::map<std::string, std::string>& aliases) {
  const Reader reader(inputs, count);
  const auto put = [&](const std::string& given, Argument value) {
    const auto alias = aliases.find(given);
    const std::string key = alias == aliases.end() ? given : alias->second;
    if (!values_.emplace(key, std::move(value)).second)
      throw Failure(ULPSCOPE_E_USAGE, "argument '" + key + "' is given twice");
  };
  const auto put_position = [&](size_t i, Argument value) {
    if (i >= names.size())
      throw Failure(ULPSCOPE_E_USAGE, "more than " + std::to_string(names.size()) + " arguments");
    put(names[i], std::move(value));
  };
  const std::string_view text = to_view(op.attributes_json);
  const json tree = text.empty() ? json() : json::parse(text, nullptr, false);
  const bool has_tree = tree.is_object() && (tree.contains("input") || tree.contains("kwarg"));
  if (has_tree) {
    const json args = tree.value("input", json::array());
    for (size_t i = 0; i < args.size(); ++i)
      put_position(i, reader.read(args[i], ULPSCOPE_INPUT, std::to_string(i), 0));
    const json kwargs = tree.value("kwarg", json::object());
    for (const auto& [key, node] : kwargs.items()) put(key, reader.read(node, ULPSCOPE_KWARG, key, 0));
  }
  size_t position = 0;
  bool is_first = true;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string path(to_view(inputs[i].path));
    if (inputs[i].role == ULPSCOPE_GRADIENT) {
      gradient_.kind = Argument::Kind::array;
      gradient_.array = to_array(inputs[i]);
      continue;
    }
    const auto dtype = static_cast<DType>(inputs[i].view.dtype);
    if (is_floating(dtype) && std::exchange(is_first, false))
      golden_type_ = bits(dtype) <= 16 ? DType::f32 : DType::f64;
    if (has_tree) continue;
    if (inputs[i].role == ULPSCOPE_INPUT) put_position(position++, reader.tensor(ULPSCOPE_INPUT, path));
    if (inputs[i].role == ULPSCOPE_KWARG) put(path, reader.tensor(ULPSCOPE_KWARG, path));
  }
}

const Argument& Arguments::get(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? none_ : found->second;
}

const Array& Arguments::array(const std::string& name) const {
  const Argument& value = get(name);
  if (value.kind != Argument::Kind::array)
    throw Failure(ULPSCOPE_E_USAGE, "argument '" + name + "' is missing, expected a tensor");
  return value.array;
}

double Arguments::number(const std::string& name) const {
  const Argument& value = get(name);
  if (value.kind == Argument::Kind::number) return value.number;
  if (value.kind == Argument::Kind::array && value.array.size() == 1) return value.array.v[0];
  throw Failure(ULPSCOPE_E_USAGE, "argument '" + name + "' is missing, expected a number");
}

double Arguments::number_or(const std::string& name, double otherwise) const {
  return has(name) ? number(name) : otherwise;
}

int64_t Arguments::integer_or(const std::string& name, int64_t otherwise) const {
  if (!has(name)) return otherwise;
  const double value = number(name);
  if (!(std::fabs(value) < 9e15))
    throw Failure(ULPSCOPE_E_USAGE, "argument '" + name + "', expected an integer");
  return static_cast<int64_t>(value);
}

bool Arguments::flag_or(const std::string& name, bool otherwise) const {
  return has(name) ? number(name) != 0 : otherwise;
}

std::string Arguments::text_or(const std::string& name, const std::string& otherwise) const {
  const Argument& value = get(name);
  return value.kind == Argument::Kind::text ? value.text : otherwise;
}

std::vector<int64_t> Arguments::integers(const std::string& name) const {
  const Argument& value = get(name);
  if (value.kind == Argument::Kind::number) return {integer_or(name, 0)};
  std::vector<int64_t> out;
  for (const Argument& item : value.items) {
    if (item.kind != Argument::Kind::number || !(std::fabs(item.number) < 9e15)) break;
    out.push_back(static_cast<int64_t>(item.number));
  }
  if (value.kind != Argument::Kind::list || out.size() != value.items.size())
    throw Failure(ULPSCOPE_E_USAGE, "argument '" + name + "', expected a list of integers");
  return out;
}

const Array& Arguments::gradient() const {
  if (gradient_.kind != Argument::Kind::array)
    throw Failure(ULPSCOPE_E_USAGE, "a backward run needs the gradient of an output");
  return gradient_.array;
}

std::string operator_name(const ulpscope_op_record& op) {
  std::string api(to_view(op.type));
  const size_t dot = api.rfind('.');
  return dot == std::string::npos ? api : api.substr(dot + 1);
}

}  // namespace ulpscope::npu_reference
