// The executor "torch": runs recorded API calls of PyTorch again through LibTorch, forward and backward, on
// any device that the library has, as recorded or in a higher precision.
#include <ulpscope/plugin.hpp>

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <dlfcn.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/input_metadata.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "operators.hpp"
#include "precision.hpp"
#include "recipes.hpp"

namespace ulpscope::torch_executor {
namespace {

constexpr uint64_t kSeed = 1234;  // of the generator, which only APIs that are random look at

// Puts autocast on a device for as long as it lives; does nothing without a type.
class Autocast {
 public:
  Autocast(const c10::Device& device, std::optional<at::ScalarType> type)
      : is_cpu_(device.is_cpu()), is_on_(type.has_value()) {
    if (!is_on_) return;
    if (is_cpu_) {
      at::autocast::set_autocast_cpu_dtype(*type);
      at::autocast::set_cpu_enabled(true);
    } else {
      at::autocast::set_autocast_gpu_dtype(*type);
      at::autocast::set_enabled(true);
    }
  }
  ~Autocast() {
    if (!is_on_) return;
    at::autocast::clear_cache();
    if (is_cpu_) {
      at::autocast::set_cpu_enabled(false);
    } else {
      at::autocast::set_enabled(false);
    }
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool is_cpu_, is_on_;
};

// The first line of what LibTorch says, without the trace of its own frames.
std::string first_line(const char* what) {
  const std::string text(what);
  return text.substr(0, text.find('\n'));
}

bool lacks_kernel(const std::string& what) { return what.find("not implemented for") != std::string::npos; }

// What operators say of inputs of several types, which autocast would have made one.
bool is_type_mismatch(const std::string& what) {
  for (const char* text : {"expected scalar type", "same dtype", "same type", "should be the same"})
    if (what.find(text) != std::string::npos) return true;
  return false;
}

// The leaf whose gradient is that of an argument.
struct Leaf {
  std::string path;
  at::Tensor tensor;
};

}  // namespace

class TorchExecutor final : public Executor {
 public:
  static constexpr const char* kName = "torch";
  static constexpr const char* kSummary = "runs APIs of PyTorch through LibTorch, forward and backward";
  static constexpr ulpscope_option_desc kOptions[] = {
      {"device", "text", "cpu", "cpu, cuda:N or npu:N"},
      {"precision", "native, raised or float64", "native",
       "raised: float16 and bfloat16 in float32, float32 in float64"},
      {"threads", "number", "1", "threads of one operator"},
      {"hf32", "bool", "true", "conv1d and conv2d round float32 inputs as an NPU does"},
      {"node_gradients", "bool", "false", "backward also gives those of the last autograd node, as node.N"},
      {"library", "text", "", "a library to load first, say that of torch_npu"}};

  TorchExecutor(Host host, std::string_view options_json) : host_(host) {
    const auto options = nlohmann::json::parse(options_json, nullptr, false);
    if (!options.is_object())
      throw Failure(ULPSCOPE_E_USAGE, "executor torch: expected options as a JSON object");
    for (const auto& [key, value] : options.items()) set_option(key, value);
    at::set_num_threads(threads_);
    if (!library_.empty() && dlopen(library_.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
      throw Failure(ULPSCOPE_E_IO, "executor torch: " + std::string(dlerror()));
    check_device();
  }

  bool supports(const ulpscope_op_record& op) const override {
    ulpscope_tensor none = {};
    ulpscope_op_record bare = op;
    bare.attributes_json = {};
    const Call call = read_call(bare, &none, 0);
    return find_route(call.type, call.name).known;
  }

  void run(const ulpscope_op_record& op, const ulpscope_tensor* inputs, uint32_t input_count,
           OutputSink& out) const override {
    host_.check_cancelled();
    Call call = read_call(op, inputs, input_count);
    const Route route = find_route(call.type, call.name);
    if (!route.known) throw Failure(ULPSCOPE_E_UNSUPPORTED, route.why_not);
    if (route.random && call.name.find("dropout") == std::string::npos)
      throw Failure(ULPSCOPE_E_UNSUPPORTED, "the result is random, two runs cannot agree");
    adapt_inputs(call, hf32_);
    raise(call, precision_, hf32_);
    std::vector<std::string> wanted;
    for (const TensorPlace& place : tensor_places(call, inputs, input_count))
      if (place.wants_gradient) wanted.push_back(key_of(place));
    at::manual_seed(kSeed);
    try {
      attempt(call, op, inputs, input_count, wanted, out);
    } catch (const c10::Error& problem) {
      throw Failure(ULPSCOPE_E_UNSUPPORTED, first_line(problem.what_without_backtrace()));
    } catch (const std::bad_alloc&) {
      throw Failure(ULPSCOPE_E_NO_MEMORY, "LibTorch is out of memory");
    }
  }

 private:
  static std::string key_of(const TensorPlace& place) {
    return (place.is_keyword ? "k." : "a.") + place.path;
  }

  void set_option(const std::string& key, const nlohmann::json& value) {
    const auto refuse = [&](const char* expected) {
      throw Failure(ULPSCOPE_E_USAGE, "executor torch: option '" + key + "', expected " + expected);
    };
    if (key == "device" || key == "library" || key == "precision") {
      if (!value.is_string()) refuse("a text");
      const auto text = value.get<std::string>();
      if (key == "device") device_name_ = text;
      if (key == "library") library_ = text;
      if (key != "precision") return;
      if (text != "native" && text != "raised" && text != "float64") refuse("native, raised or float64");
      precision_ = text == "native"   ? Precision::native
                   : text == "raised" ? Precision::raised
                                      : Precision::float64;
    } else if (key == "hf32" || key == "node_gradients") {
      if (!value.is_boolean()) refuse("true or false");
      (key == "hf32" ? hf32_ : node_gradients_) = value.get<bool>();
    } else if (key == "threads") {
      if (!value.is_number_integer() || value.get<int64_t>() < 1 || value.get<int64_t>() > 1024)
        refuse("a number from 1 to 1024");
      threads_ = value.get<int>();
    } else {
      refuse("device, precision, threads, hf32, node_gradients or library");
    }
  }

  void check_device() {
    try {
      device_ = c10::Device(device_name_);
      if (!device_.is_cpu()) at::empty({1}, at::TensorOptions().device(device_));
    } catch (const std::exception& problem) {
      throw Failure(ULPSCOPE_E_USAGE, "device '" + device_name_.substr(0, 80) +
                                          "' cannot be used by this LibTorch: " + first_line(problem.what()));
    }
  }

  // As recorded; where the device has no kernel for a narrow type, in float32 and rounded once.
  void attempt(const Call& call, const ulpscope_op_record& op, const ulpscope_tensor* inputs,
               uint32_t input_count, const std::vector<std::string>& wanted, OutputSink& out) const {
    Call first = call;
    const std::optional<at::ScalarType> low = low_type(first);
    try {
      execute(first, op, inputs, input_count, wanted, std::nullopt, out);
      return;
    } catch (const c10::Error& problem) {
      const std::string what = problem.what_without_backtrace();
      const bool mixed = mixed_low_type(first).has_value();
      if (precision_ != Precision::native || !low ||
          !(lacks_kernel(what) || (mixed && is_type_mismatch(what))))
        throw;
    }
    host_.info(std::string("no kernel for ") + name(dtype_of(*low)) +
               " on this device: computed in float32 and rounded once");
    Call second = call;
    execute(second, op, inputs, input_count, wanted, low, out);
  }

  static std::optional<at::ScalarType> low_type(Call& call) {
    for (const TensorPlace& place : tensor_places(call, nullptr, 0)) {
      const at::ScalarType type = place.value->tensor.scalar_type();
      if (type == at::kHalf || type == at::kBFloat16) return type;
    }
    return std::nullopt;
  }

  // Puts the tensors on the device; those that want a gradient become copies of leaves.
  std::vector<Leaf> place_tensors(Call& call, const std::vector<std::string>& wanted, bool widen) const {
    std::vector<Leaf> leaves;
    for (TensorPlace& place : tensor_places(call, nullptr, 0)) {
      at::Tensor& tensor = place.value->tensor;
      tensor = tensor.to(device_);
      const at::ScalarType type = tensor.scalar_type();
      const bool differentiable = tensor.is_floating_point() || tensor.is_complex();
      const at::ScalarType run_type =
          widen && (type == at::kHalf || type == at::kBFloat16) ? at::kFloat : type;
      const bool wants =
          differentiable && std::find(wanted.begin(), wanted.end(), key_of(place)) != wanted.end();
      if (!wants) {
        tensor = tensor.to(run_type);
        continue;
      }
      const at::Tensor leaf = tensor.detach().clone().requires_grad_(true);
      leaves.push_back({(place.is_keyword ? "kwarg." : "input.") + place.path, leaf});
      tensor = run_type == type ? leaf.clone() : leaf.to(run_type);
    }
    set_device(device_);
    return leaves;
  }

  void execute(Call& call, const ulpscope_op_record& op, const ulpscope_tensor* inputs, uint32_t input_count,
               const std::vector<std::string>& wanted, std::optional<at::ScalarType> round_to,
               OutputSink& out) const {
    const bool backward = op.phase == ULPSCOPE_BACKWARD;
    const at::AutoGradMode gradients(backward);
    const auto autocast_type = autocast_of(call);
    const std::vector<Leaf> leaves =
        place_tensors(call, backward ? wanted : std::vector<std::string>(), round_to.has_value());
    Value result;
    {
      const Autocast autocast(device_, round_to ? std::nullopt : autocast_type);
      result = from_result(run_call(call));
    }
    clean_up(call, result);
    if (!backward) return emit(result, "", round_to, out);
    for (uint32_t i = 0; i < input_count; ++i)
      if (inputs[i].role == ULPSCOPE_GRADIENT) return run_backward(result, inputs[i], leaves, round_to, out);
    throw Failure(ULPSCOPE_E_USAGE, "a backward run needs the gradient of an output");
  }

  // The low type of a call that mixes types. type_as mixes them on purpose, and a CPU has no autocast to
  // float16.
  std::optional<at::ScalarType> autocast_of(Call& call) const {
    const auto low = mixed_low_type(call);
    if (precision_ != Precision::native || call.name == "type_as") return std::nullopt;
    return device_.is_cpu() && low == at::kHalf ? std::nullopt : low;
  }

  void run_backward(const Value& result, const ulpscope_tensor& given, const std::vector<Leaf>& leaves,
                    std::optional<at::ScalarType> round_to, OutputSink& out) const {
    const std::string path(to_view(given.path));
    const Value* output = &result;
    if (result.kind == Kind::list) {
      const size_t index =
          path.find_first_not_of("0123456789") == std::string::npos && path.size() < 9 && !path.empty()
              ? std::stoul(path)
              : result.items.size();
      if (index >= result.items.size())
        throw Failure(ULPSCOPE_E_USAGE, "there is no output '" + path.substr(0, 80) + "' to start from");
      output = &result.items[index];
    }
    if (output->kind != Kind::tensor || !output->tensor.requires_grad())
      throw Failure(ULPSCOPE_E_UNSUPPORTED, "the output does not depend on an input that wants a gradient");
    const at::Tensor& tensor = output->tensor;
    at::Tensor gradient = raised(to_tensor(given), precision_).to(device_).to(tensor.scalar_type());
    if (gradient.sizes() != tensor.sizes())
      throw Failure(ULPSCOPE_E_USAGE,
                    "the gradient is " + describe(of(gradient)) + ", the output " + describe(of(tensor)));
    if (node_gradients_) emit_node(tensor, gradient, out);
    torch::autograd::backward({tensor}, {gradient});
    for (const Leaf& leaf : leaves)
      if (leaf.tensor.grad().defined()) emit(of(leaf.tensor.grad()), leaf.path, round_to, out);
  }

  // What the last node of the graph passes on, in its own order: the form in which hooks on it record.
  void emit_node(const at::Tensor& tensor, const at::Tensor& gradient, OutputSink& out) const {
    const std::shared_ptr<torch::autograd::Node> node = tensor.grad_fn();
    if (!node) return;
    torch::autograd::variable_list given(node->num_inputs());
    const auto place = static_cast<size_t>(tensor.output_nr());
    if (place >= given.size()) return;
    given[place] = gradient.clone();  // a node may work in place
    const at::NoGradGuard no_gradient;
    const torch::autograd::variable_list passed = (*node)(std::move(given));
    for (size_t i = 0; i < passed.size(); ++i)
      if (passed[i].defined())
        emit(of(fitted(passed[i], node->next_edge(i))), "node." + std::to_string(i), std::nullopt, out);
  }

  // Summed to the shape of what it is the gradient of, as the engine does between two nodes.
  static at::Tensor fitted(const at::Tensor& gradient, const torch::autograd::Edge& edge) {
    if (!edge.is_valid()) return gradient;
    const auto& wanted = edge.function->input_metadata(edge.input_nr);
    if (wanted.is_same_shape(gradient) || !wanted.is_expandable_to_shape(gradient)) return gradient;
    at::Tensor copy = gradient;
    return wanted.reduce_grad(copy);
  }

  // Rows behind the valid ones hold whatever was in memory: two operators of an NPU leave them unwritten.
  void clean_up(Call& call, Value& result) const {
    const char* keyword = call.name == "npu_dequant_swiglu_quant" ? "group_index"
                          : call.name == "npu_grouped_matmul"     ? "group_list"
                                                                  : nullptr;
    Value* group = keyword == nullptr ? nullptr : call.keyword(keyword);
    if (group == nullptr || group->kind != Kind::tensor) return;
    const int64_t valid = group->tensor.sum().item().toLong();
    const auto clear = [&](Value& value) {
      if (value.kind == Kind::tensor && value.tensor.dim() > 0 && valid >= 0 && valid < value.tensor.size(0))
        value.tensor.slice(0, valid).zero_();
    };
    clear(result);
    for (Value& item : result.items) clear(item);
  }

  static std::string joined(const std::string& path, size_t index) {
    return (path.empty() ? "" : path + ".") + std::to_string(index);
  }

  // A tensor or a number (0-d) is one output; a list its elements, each under its index.
  void emit(const Value& value, const std::string& path, std::optional<at::ScalarType> round_to,
            OutputSink& out) const {
    if (value.kind == Kind::list) {
      for (size_t i = 0; i < value.items.size(); ++i) emit(value.items[i], joined(path, i), round_to, out);
      return;
    }
    if (value.kind != Kind::tensor && !value.is_number()) return;
    at::Tensor tensor = value.kind == Kind::tensor ? value.tensor.detach() : scalar_of(value);
    if (tensor.layout() != at::kStrided) tensor = tensor.to_dense();
    // Some gradients are known to be zero and have no memory.
    if (tensor._is_zerotensor()) tensor = at::zeros(tensor.sizes(), tensor.options());
    if (round_to && tensor.scalar_type() == at::kFloat) tensor = tensor.to(*round_to);
    tensor = tensor.to(at::kCPU).resolve_conj().resolve_neg().contiguous();
    const DType dtype = dtype_of(tensor.scalar_type());
    if (dtype == DType::none)
      throw Failure(ULPSCOPE_E_UNSUPPORTED, std::string("an output has element type ") +
                                                c10::toString(tensor.scalar_type()) +
                                                ", which is not compared");
    void* to = out.add(path.empty() ? "0" : path, dtype, Shape(tensor.sizes().begin(), tensor.sizes().end()));
    if (tensor.numel() > 0) std::memcpy(to, tensor.data_ptr(), tensor.nbytes());
  }

  static at::Tensor scalar_of(const Value& value) {
    const at::ScalarType type = value.kind == Kind::boolean   ? at::kBool
                                : value.kind == Kind::integer ? at::kLong
                                                              : at::kDouble;
    return at::scalar_tensor(value.as_scalar(), at::TensorOptions().dtype(type));
  }

  Host host_;
  std::string device_name_ = "cpu", library_;
  c10::Device device_{c10::kCPU};
  Precision precision_ = Precision::native;
  int threads_ = 1;
  bool hf32_ = true, node_gradients_ = false;
};

}  // namespace ulpscope::torch_executor

ULPSCOPE_PLUGIN("torch_executor", "0.1.0", "ulpscope", "Apache-2.0",
                ULPSCOPE_COMPONENT_EXECUTOR(ulpscope::torch_executor::TorchExecutor));
