#include "formulas.hpp"

#include <cmath>

#include "operators.hpp"

namespace ulpscope::torch_executor {
namespace {

using c10::IValue;
using Shapes = std::vector<int64_t>;

constexpr double kPi = 3.14159265358979323846;

at::Tensor reduced(const at::Tensor& loss, const std::string& reduction) {
  if (reduction == "none") return loss;
  if (reduction == "mean") return loss.mean();
  if (reduction == "sum") return loss.sum();
  throw Failure(ULPSCOPE_E_USAGE, "reduction '" + reduction.substr(0, 40) + "', expected none, mean or sum");
}

// -(y log s(x) + (1 - y) log s(-x)), times weight, mean over the last dimension.
IValue multilabel_soft_margin_loss(Arguments& a) {
  const at::Tensor x = a.tensor("input"), y = a.tensor("target");
  at::Tensor loss = -(y * at::log_sigmoid(x) + (1 - y) * at::log_sigmoid(-x));
  if (a.has("weight")) loss = loss * a.tensor("weight");
  const int64_t last = x.dim() - 1;
  loss = loss.sum(last) / static_cast<double>(x.size(last));
  return reduced(loss, a.text("reduction"));
}

// 0.5 (log v + (x - y)^2 / v) with v = max(var, eps), which is not differentiated through the maximum.
IValue gaussian_nll_loss(Arguments& a) {
  const at::Tensor x = a.tensor("input"), y = a.tensor("target");
  at::Tensor var = a.tensor("var");
  if (var.sizes() != x.sizes() && var.dim() == x.dim() - 1) var = var.unsqueeze(-1);
  at::Tensor v = var.clone();
  {
    const at::NoGradGuard no_gradient;
    v.clamp_(a.real("eps"));
  }
  at::Tensor loss = 0.5 * (v.log() + (x - y).pow(2) / v);
  if (a.flag("full")) loss = loss + 0.5 * std::log(2 * kPi);
  return reduced(loss, a.text("reduction"));
}

// (sign(p) relu(|p|) k)^(1/n), p = average pooling of x^n, k the elements of a window.
IValue lp_pool(Arguments& a, size_t dims) {
  const double n = a.real("norm_type");
  const Shapes kernel = a.integers("kernel_size", dims);
  const Shapes stride = a.has("stride") ? a.integers("stride", dims) : Shapes();
  double count = 1;
  for (const int64_t k : kernel) count *= static_cast<double>(k);
  const at::Tensor powered = a.tensor("input").pow(n);
  const bool ceil_mode = a.flag("ceil_mode");
  const at::Tensor p = dims == 1 ? at::avg_pool1d(powered, kernel, stride, 0, ceil_mode)
                                 : at::avg_pool2d(powered, kernel, stride, 0, ceil_mode);
  return (at::sign(p) * at::relu(at::abs(p))).mul(count).pow(1.0 / n);
}

// x / (k + alpha mean of x^2 over a window of channels)^beta.
IValue local_response_norm(Arguments& a) {
  const at::Tensor x = a.tensor("input");
  const int64_t size = a.integer("size");
  if (x.dim() < 3) throw Failure(ULPSCOPE_E_USAGE, "local_response_norm: expected 3 dimensions or more");
  at::Tensor div = x.mul(x).unsqueeze(1);
  if (x.dim() == 3) {
    div = at::constant_pad_nd(div, {0, 0, size / 2, (size - 1) / 2});
    div = at::avg_pool2d(div, {size, 1}, 1).squeeze(1);
  } else {
    div = div.view({x.size(0), 1, x.size(1), x.size(2), -1});
    div = at::constant_pad_nd(div, {0, 0, 0, 0, size / 2, (size - 1) / 2});
    div = at::avg_pool3d(div, {size, 1, 1}, 1).squeeze(1).view(x.sizes());
  }
  return x / div.mul(a.real("alpha")).add(a.real("k")).pow(a.real("beta"));
}

IValue normalize(Arguments& a) {
  const at::Tensor x = a.tensor("input");
  std::vector<Value> args = {of(x), a.get("p"), a.get("dim"), of(true)};
  if (args[2].kind == Kind::integer) args[2] = of(Shapes{args[2].integer});
  return x / call_operator("aten::norm", args, {}).toTensor().clamp_min(a.real("eps")).expand_as(x);
}

// Rows of a table; those longer than max_norm are shortened in place first.
at::Tensor renormed(Arguments& a) {
  at::Tensor weight = a.tensor("weight");
  if (!a.has("max_norm")) return weight;
  const at::NoGradGuard no_gradient;
  at::embedding_renorm_(weight, a.tensor("input").contiguous(), a.real("max_norm"), a.real("norm_type"));
  return weight;
}

IValue embedding(Arguments& a) {
  int64_t padding = -1;
  if (a.has("padding_idx")) {
    padding = a.integer("padding_idx");
    if (padding < 0) padding += a.tensor("weight").size(0);
  }
  return at::embedding(renormed(a), a.tensor("input"), padding, a.flag("scale_grad_by_freq"),
                       a.flag("sparse"));
}

IValue embedding_bag(Arguments& a) {
  // Its older form had the table first.
  if (a.tensor("input").is_floating_point() && !a.tensor("weight").is_floating_point())
    std::swap(a.get("input"), a.get("weight"));
  at::Tensor input = a.tensor("input");
  at::Tensor offsets = a.has("offsets") ? a.tensor("offsets") : at::Tensor();
  Value weights = a.get("per_sample_weights");
  if (input.dim() == 2) {
    offsets = at::arange(0, input.numel(), input.size(1), input.options());
    input = input.reshape(-1);
    if (weights.kind == Kind::tensor) weights = of(weights.tensor.reshape(-1));
  }
  if (!offsets.defined()) throw Failure(ULPSCOPE_E_USAGE, "embedding_bag: offsets are missing");
  const std::string mode = a.text("mode");
  const int64_t number = mode == "sum" ? 0 : mode == "mean" ? 1 : 2;
  const IValue all =
      call_operator("aten::embedding_bag",
                    {of(renormed(a)), of(input), of(offsets), a.get("scale_grad_by_freq"), of(number),
                     a.get("sparse"), weights, a.get("include_last_offset"), a.get("padding_idx")},
                    {});
  return all.toTupleRef().elements()[0];
}

// softmax(q k^T scale + mask) v.
IValue attention(Arguments& a) {
  const at::Tensor q = a.tensor("query"), k = a.tensor("key"), v = a.tensor("value");
  if (a.real("dropout_p") != 0)
    throw Failure(ULPSCOPE_E_UNSUPPORTED, "scaled_dot_product_attention with dropout is random");
  const double scale = a.has("scale") ? a.real("scale") : 1 / std::sqrt(static_cast<double>(q.size(-1)));
  at::Tensor scores = at::matmul(q, k.transpose(-2, -1)) * scale;
  if (a.flag("is_causal"))
    scores = scores.masked_fill(
        at::ones({q.size(-2), k.size(-2)}, q.options().dtype(at::kBool)).tril().logical_not(), -INFINITY);
  if (a.has("attn_mask")) {
    const at::Tensor mask = a.tensor("attn_mask");
    scores =
        mask.scalar_type() == at::kBool ? scores.masked_fill(mask.logical_not(), -INFINITY) : scores + mask;
  }
  return at::matmul(at::softmax(scores, -1), v);
}

// Default size of an unpooling: (in - 1) stride + kernel - 2 padding.
IValue max_unpool(Arguments& a, size_t dims) {
  at::Tensor x = a.tensor("input"), indices = a.tensor("indices");
  const Shapes kernel = a.integers("kernel_size", dims);
  const Shapes stride = a.has("stride") ? a.integers("stride", dims) : kernel;
  const Shapes padding = a.integers("padding", dims);
  Shapes size;
  if (a.has("output_size")) {
    for (const Value& item : a.get("output_size").items) size.push_back(item.integer);
    if (size.size() > dims) size.erase(size.begin(), size.end() - static_cast<std::ptrdiff_t>(dims));
  } else {
    for (size_t i = 0; i < dims; ++i)
      size.push_back((x.size(x.dim() - static_cast<int64_t>(dims - i)) - 1) * stride[i] + kernel[i] -
                     2 * padding[i]);
  }
  if (dims == 3) return at::max_unpool3d(x, indices, size, stride, padding);
  if (dims == 2) return at::max_unpool2d(x, indices, size);
  size.push_back(1);
  return at::max_unpool2d(x.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1);
}

// The operator of a mode and the number of spatial dimensions.
std::string upsample_operator(const std::string& mode, size_t dims, bool antialias) {
  const std::string d = std::to_string(dims) + "d";
  if (mode == "nearest") return "aten::upsample_nearest" + d;
  if (mode == "nearest-exact") return "aten::_upsample_nearest_exact" + d;
  if (mode == "linear" && dims == 1) return "aten::upsample_linear1d";
  if (mode == "bilinear" && dims == 2)
    return antialias ? "aten::_upsample_bilinear2d_aa" : "aten::upsample_bilinear2d";
  if (mode == "trilinear" && dims == 3) return "aten::upsample_trilinear3d";
  if (mode == "bicubic" && dims == 2)
    return antialias ? "aten::_upsample_bicubic2d_aa" : "aten::upsample_bicubic2d";
  throw Failure(ULPSCOPE_E_USAGE, "interpolate: mode '" + mode.substr(0, 40) + "' does not go with " +
                                      std::to_string(dims) + " spatial dimensions");
}

IValue interpolate(Arguments& a) {
  const at::Tensor x = a.tensor("input");
  if (x.dim() < 3 || x.dim() > 5) throw Failure(ULPSCOPE_E_USAGE, "interpolate: expected 3 to 5 dimensions");
  const auto dims = static_cast<size_t>(x.dim() - 2);
  const std::string mode = a.text("mode");
  Value size = a.has("size") ? of(a.integers("size", dims)) : Value();
  Value scale = a.get("scale_factor");
  if (scale.is_number()) scale = of(std::vector<Value>(dims, scale));
  const bool recompute = a.has("recompute_scale_factor") && a.flag("recompute_scale_factor");
  const bool area = mode == "area";
  if (size.kind == Kind::none && (recompute || area)) {
    Shapes out;
    for (size_t i = 0; i < dims && i < scale.items.size(); ++i)
      out.push_back(static_cast<int64_t>(
          std::floor(static_cast<double>(x.size(static_cast<int64_t>(i) + 2)) * scale.items[i].as_double())));
    size = of(out);
    scale = {};
  }
  if (area) return call_operator("aten::adaptive_avg_pool" + std::to_string(dims) + "d", {of(x), size}, {});
  std::vector<Value> args = {of(x), size};
  if (mode.find("nearest") == std::string::npos)
    args.push_back(of(a.has("align_corners") && a.flag("align_corners")));
  args.push_back(size.kind == Kind::none ? scale : Value());
  return call_operator(upsample_operator(mode, dims, a.flag("antialias")), args, {});
}

// torch.norm: "fro" and "nuc" beside numbers.
IValue norm(Arguments& a) {
  const at::Tensor x = a.tensor("input");
  const Value p = a.get("p");
  Value dim = a.get("dim");
  if (dim.kind == Kind::integer) dim = of(Shapes{dim.integer});
  Keywords dtype;
  if (a.has("dtype")) dtype.emplace_back("dtype", a.get("dtype"));
  if (p.kind == Kind::text && p.text == "nuc")
    return dim.kind == Kind::none ? call_operator("aten::nuclear_norm", {of(x), a.get("keepdim")}, {})
                                  : call_operator("aten::nuclear_norm", {of(x), dim, a.get("keepdim")}, {});
  const Value order = p.kind == Kind::text || p.kind == Kind::none ? of(int64_t{2}) : p;
  if (dim.kind == Kind::none && !a.flag("keepdim") && dtype.empty())
    return call_operator("aten::norm", {of(x), order}, {});
  if (dim.kind == Kind::none) {
    Shapes all;
    for (int64_t i = 0; i < x.dim(); ++i) all.push_back(i);
    dim = of(all);
  }
  return call_operator("aten::norm", {of(x), order, dim, a.get("keepdim")}, dtype);
}

// torch.tensordot: a number of dimensions, or a list of them for each side.
IValue tensordot(Arguments& a) {
  const Value dims = a.get("dims");
  Shapes left, right;
  if (dims.kind == Kind::integer) {
    for (int64_t i = 0; i < dims.integer; ++i) {
      left.push_back(i - dims.integer);
      right.push_back(i);
    }
  } else if (dims.kind == Kind::list && dims.items.size() == 2 && dims.items[0].kind == Kind::list) {
    for (const Value& item : dims.items[0].items) left.push_back(item.integer);
    for (const Value& item : dims.items[1].items) right.push_back(item.integer);
  } else {
    throw Failure(ULPSCOPE_E_USAGE, "tensordot: dims " + describe(dims) + ", expected an int or two lists");
  }
  return at::tensordot(a.tensor("a"), a.tensor("b"), left, right);
}

IValue where(Arguments& a) {
  return call_operator("aten::where", {a.get("condition"), a.get("self"), a.get("other")}, {});
}

// other ** self: a number takes the type that both together have.
IValue reflected_power(Arguments& a) {
  const at::Tensor x = a.tensor("self");
  const Value base = a.get("other");
  if (base.kind == Kind::tensor) return at::pow(base.tensor, x);
  const at::ScalarType type = at::result_type(x, base.as_scalar());
  return at::pow(at::scalar_tensor(base.as_scalar(), x.options().dtype(type)), x);
}

IValue get_item_of(Arguments& a) { return get_item(a.tensor("self"), a.get("index")); }
IValue set_item_of(Arguments& a) {
  const at::Tensor x = a.tensor("self");
  set_item(x, a.get("index"), a.get("value"));
  return x;
}

Formula formula(const std::vector<std::string>& parameters, std::function<IValue(Arguments&)> run) {
  Formula made;
  for (const std::string& text : parameters) made.parameters.push_back(parameter(text));
  made.run = std::move(run);
  return made;
}

std::map<std::string, Formula> make_formulas() {
  using Names = std::vector<std::string>;
  const std::string f = "Functional.";
  std::map<std::string, Formula> all;
  const Names loss = {
      "input", "target", "weight=null", "size_average=null", "reduce=null", "reduction=\"mean\""};
  all[f + "multilabel_soft_margin_loss"] = formula(loss, multilabel_soft_margin_loss);
  all[f + "gaussian_nll_loss"] =
      formula({"input", "target", "var", "full=false", "eps=1e-06", "reduction=\"mean\""}, gaussian_nll_loss);
  const Names pool = {"input", "norm_type", "kernel_size", "stride=null", "ceil_mode=false"};
  all[f + "lp_pool1d"] = formula(pool, [](Arguments& a) { return lp_pool(a, 1); });
  all[f + "lp_pool2d"] = formula(pool, [](Arguments& a) { return lp_pool(a, 2); });
  all[f + "local_response_norm"] =
      formula({"input", "size", "alpha=0.0001", "beta=0.75", "k=1.0"}, local_response_norm);
  all[f + "normalize"] = formula({"input", "p=2.0", "dim=1", "eps=1e-12", "out=null"}, normalize);
  all[f + "embedding"] = formula({"input", "weight", "padding_idx=null", "max_norm=null", "norm_type=2.0",
                                  "scale_grad_by_freq=false", "sparse=false"},
                                 embedding);
  all[f + "embedding_bag"] =
      formula({"input", "weight", "offsets=null", "max_norm=null", "norm_type=2", "scale_grad_by_freq=false",
               "mode=\"mean\"", "sparse=false", "per_sample_weights=null", "include_last_offset=false",
               "padding_idx=null"},
              embedding_bag);
  all[f + "scaled_dot_product_attention"] =
      formula({"query", "key", "value", "attn_mask=null", "dropout_p=0.0", "is_causal=false", "scale=null"},
              attention);
  const Names unpool = {"input", "indices", "kernel_size", "stride=null", "padding=0", "output_size=null"};
  for (size_t dims = 1; dims <= 3; ++dims)
    all[f + "max_unpool" + std::to_string(dims) + "d"] =
        formula(unpool, [dims](Arguments& a) { return max_unpool(a, dims); });
  const Names resize = {"input",
                        "size=null",
                        "scale_factor=null",
                        "mode=\"nearest\"",
                        "align_corners=null",
                        "recompute_scale_factor=null",
                        "antialias=false"};
  all[f + "interpolate"] = all[f + "upsample"] = formula(resize, interpolate);
  Names nearest = resize, bilinear = resize;
  bilinear[3] = "mode=\"bilinear\"";
  bilinear[4] = "align_corners=true";
  all[f + "upsample_nearest"] = formula(nearest, interpolate);
  all[f + "upsample_bilinear"] = formula(bilinear, interpolate);
  const Names norms = {"input", "p=\"fro\"", "dim=null", "keepdim=false", "out=null", "dtype=null"};
  const Names method = {"input", "p=\"fro\"", "dim=null", "keepdim=false", "dtype=null"};
  all["Torch.norm"] = formula(norms, norm);
  all["Tensor.norm"] = formula(method, norm);
  all["Torch.tensordot"] = formula({"a", "b", "dims=2", "out=null"}, tensordot);
  all["Tensor.where"] = formula({"self", "condition", "other"}, where);
  all["Tensor.__rpow__"] = formula({"self", "other"}, reflected_power);
  all["Tensor.__getitem__"] = formula({"self", "index"}, get_item_of);
  all["Tensor.__setitem__"] = formula({"self", "index", "value"}, set_item_of);
  return all;
}

// Applies the simple parts of an index; what needs a gather is left in gathers, by dimension.
at::Tensor apply_simple(at::Tensor x, const Value& index, c10::List<c10::optional<at::Tensor>>& gathers) {
  // A tuple and a list of numbers look alike in a dump; numbers alone index one dimension each.
  const std::vector<Value> items = index.kind == Kind::list ? index.items : std::vector<Value>{index};
  int64_t used = 0;
  for (const Value& item : items)
    if (item.kind == Kind::tensor && item.tensor.scalar_type() == at::kBool)
      used += item.tensor.dim();
    else if (item.kind != Kind::none && item.kind != Kind::ellipsis && item.kind != Kind::boolean)
      ++used;
  int64_t dim = 0;
  const int64_t dims = x.dim();
  std::vector<c10::optional<at::Tensor>> kept;
  const auto keep = [&](const at::Tensor& chosen) {
    while (static_cast<int64_t>(kept.size()) < dim) kept.emplace_back();
    kept.emplace_back(chosen);
  };
  for (const Value& item : items) {
    switch (item.kind) {
      case Kind::integer:
        x = x.select(dim, item.integer);
        break;
      case Kind::slice: {
        const auto part = [&](size_t i, int64_t otherwise) {
          return item.items[i].kind == Kind::integer ? item.items[i].integer : otherwise;
        };
        x = x.slice(dim, part(0, 0), part(1, x.size(dim)), part(2, 1));
        ++dim;
        break;
      }
      case Kind::ellipsis:
        dim += dims - used;
        break;
      case Kind::none:
        x = x.unsqueeze(dim++);
        break;
      case Kind::boolean:
        x = x.unsqueeze(dim);
        keep(item.truth ? at::zeros({1}, at::kLong) : at::empty({0}, at::kLong));
        ++dim;
        break;
      case Kind::tensor:
        if (item.tensor.dim() == 0 && item.tensor.scalar_type() != at::kBool) {
          x = x.select(dim, item.tensor.item().toLong());
          break;
        }
        keep(item.tensor);
        dim += item.tensor.scalar_type() == at::kBool ? item.tensor.dim() : 1;
        while (static_cast<int64_t>(kept.size()) < dim && item.tensor.scalar_type() != at::kBool)
          kept.emplace_back();
        break;
      case Kind::list: {
        std::vector<int64_t> numbers;
        for (const Value& number : item.items) numbers.push_back(number.integer);
        keep(at::tensor(numbers, at::kLong));
        ++dim;
        break;
      }
      default:
        throw Failure(ULPSCOPE_E_UNSUPPORTED, "index " + describe(item) + " cannot be replayed");
    }
  }
  for (const auto& chosen : kept) gathers.push_back(chosen);
  return x;
}

}  // namespace

Arguments::Parameter parameter(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, true, {}};
  return {text.substr(0, equals), false, read_literal(text.substr(equals + 1))};
}

Arguments::Arguments(const Call& call, const std::vector<Parameter>& parameters) {
  if (call.args.size() > parameters.size())
    throw Failure(ULPSCOPE_E_USAGE, call.name + ": " + std::to_string(call.args.size()) +
                                        " arguments, expected at most " + std::to_string(parameters.size()));
  for (size_t i = 0; i < call.args.size(); ++i) values_[parameters[i].name] = call.args[i];
  for (const auto& [key, value] : call.kwargs) {
    bool is_known = false;
    for (const Parameter& each : parameters) is_known = is_known || each.name == key;
    if (!is_known && value.kind != Kind::none)
      throw Failure(ULPSCOPE_E_UNSUPPORTED, call.name + ": argument '" + key.substr(0, 80) + "' is unknown");
    if (is_known && !values_.emplace(key, value).second)
      throw Failure(ULPSCOPE_E_USAGE, call.name + ": argument '" + key + "' is given twice");
  }
  for (const Parameter& each : parameters) {
    if (values_.count(each.name) > 0) continue;
    if (each.required)
      throw Failure(ULPSCOPE_E_USAGE, call.name + ": argument '" + each.name + "' is missing");
    values_[each.name] = each.otherwise;
  }
}

Value& Arguments::get(const std::string& name) {
  const auto found = values_.find(name);
  if (found == values_.end()) throw Failure(ULPSCOPE_E_INTERNAL, "no parameter '" + name + "'");
  return found->second;
}

at::Tensor Arguments::tensor(const std::string& name) {
  const Value& value = get(name);
  if (value.kind == Kind::tensor) return value.tensor;
  throw Failure(ULPSCOPE_E_USAGE, "argument '" + name + "': " + describe(value) + ", expected a tensor");
}

double Arguments::real(const std::string& name) {
  const Value& value = get(name);
  if (value.is_number()) return value.as_double();
  throw Failure(ULPSCOPE_E_USAGE, "argument '" + name + "': " + describe(value) + ", expected a number");
}

int64_t Arguments::integer(const std::string& name) {
  const Value& value = get(name);
  if (value.kind == Kind::integer) return value.integer;
  throw Failure(ULPSCOPE_E_USAGE, "argument '" + name + "': " + describe(value) + ", expected an int");
}

bool Arguments::flag(const std::string& name) {
  const Value& value = get(name);
  if (value.kind == Kind::boolean) return value.truth;
  if (value.kind == Kind::integer) return value.integer != 0;
  throw Failure(ULPSCOPE_E_USAGE, "argument '" + name + "': " + describe(value) + ", expected a bool");
}

std::string Arguments::text(const std::string& name) {
  const Value& value = get(name);
  if (value.kind == Kind::text) return value.text;
  throw Failure(ULPSCOPE_E_USAGE, "argument '" + name + "': " + describe(value) + ", expected a str");
}

std::vector<int64_t> Arguments::integers(const std::string& name, size_t count) {
  const Value& value = get(name);
  if (value.kind == Kind::integer) return std::vector<int64_t>(count, value.integer);
  std::vector<int64_t> out;
  for (const Value& item : value.items)
    if (item.kind == Kind::integer) out.push_back(item.integer);
  if (out.size() == 1 && count > 1) out.assign(count, out[0]);
  if (value.kind == Kind::list && out.size() == count) return out;
  throw Failure(ULPSCOPE_E_USAGE, "argument '" + name + "': " + describe(value) + ", expected " +
                                      std::to_string(count) + " ints");
}

const Formula* find_formula(const std::string& api) {
  static const std::map<std::string, Formula> formulas = make_formulas();
  const auto found = formulas.find(api);
  return found == formulas.end() ? nullptr : &found->second;
}

at::Tensor get_item(const at::Tensor& tensor, const Value& index) {
  c10::List<c10::optional<at::Tensor>> gathers;
  const at::Tensor simple = apply_simple(tensor, index, gathers);
  return gathers.empty() ? simple : at::index(simple, gathers);
}

void set_item(const at::Tensor& tensor, const Value& index, const Value& value) {
  c10::List<c10::optional<at::Tensor>> gathers;
  at::Tensor place = apply_simple(tensor, index, gathers);
  const at::Tensor source = value.kind == Kind::tensor
                                ? value.tensor.to(tensor.scalar_type())
                                : at::scalar_tensor(value.as_scalar(), tensor.options());
  if (gathers.empty()) {
    place.copy_(source);
  } else {
    at::index_put_(place, gathers, source);
  }
}

}  // namespace ulpscope::torch_executor
