#include "recipes.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "formulas.hpp"
#include "operators.hpp"
#include "torch_executor/aliases_json.hpp"

namespace ulpscope::torch_executor {
namespace {

using nlohmann::json;

struct Recipe {
  std::vector<Arguments::Parameter> parameters;
  json variants;
};

std::map<std::string, Recipe> read_table() {
  std::map<std::string, Recipe> table;
  const json root = json::parse(kAliasesJson);
  for (const auto& [api, entry] : root.items()) {
    Recipe recipe;
    for (const json& parameter : entry.at("params")) {
      Arguments::Parameter made;
      made.name = parameter.at(0).get<std::string>();
      made.required = parameter.size() == 1;
      if (!made.required) made.otherwise = read_literal(parameter.at(1).dump());
      recipe.parameters.push_back(std::move(made));
    }
    recipe.variants = entry.at("variants");
    table.emplace(api, std::move(recipe));
  }
  return table;
}

const Recipe* find_recipe(const std::string& api) {
  static const std::map<std::string, Recipe> table = read_table();
  const auto found = table.find(api);
  return found == table.end() ? nullptr : &found->second;
}

// The words of Python for what the operators have as numbers.
int64_t word_number(const std::string& conversion, const Value& value) {
  static const std::map<std::string, std::map<std::string, int64_t>> kWords = {
      {"reduction", {{"none", 0}, {"mean", 1}, {"sum", 2}}},
      {"grid_mode", {{"bilinear", 0}, {"nearest", 1}, {"bicubic", 2}}},
      {"grid_pad", {{"zeros", 0}, {"border", 1}, {"reflection", 2}}}};
  const auto words = kWords.find(conversion);
  if (words == kWords.end()) throw Failure(ULPSCOPE_E_INTERNAL, "unknown conversion '" + conversion + "'");
  const auto word = words->second.find(value.text);
  if (word == words->second.end())
    throw Failure(ULPSCOPE_E_USAGE, conversion + ": " + describe(value) + " is no word that it knows");
  return word->second;
}

Value converted(const std::string& conversion, Value value) {
  if (conversion == "list") {
    if (value.kind == Kind::list) return value;
    return of(std::vector<Value>{std::move(value)});
  }
  if (conversion == "emptylist") return value.kind == Kind::none ? of(std::vector<Value>()) : value;
  if (conversion == "neg1") return value.kind == Kind::none ? of(int64_t{-1}) : value;
  if (conversion.rfind("tuple", 0) == 0) {
    if (value.kind == Kind::list || value.kind == Kind::none) return value;
    return of(std::vector<Value>(static_cast<size_t>(conversion.back() - '0'), value));
  }
  if (value.kind == Kind::integer) return value;
  return of(word_number(conversion, value));
}

class Steps {
 public:
  explicit Steps(Arguments& arguments) : arguments_(arguments) {}

  c10::IValue run(const json& steps) {
    c10::IValue result;
    for (const json& step : steps) {
      std::vector<Value> args;
      for (const json& arg : step.at("args")) args.push_back(argument(arg));
      Keywords kwargs;
      if (step.contains("kwargs"))
        for (const auto& [key, arg] : step.at("kwargs").items()) kwargs.emplace_back(key, argument(arg));
      result = call_operator(step.at("op").get<std::string>(), args, kwargs);
      if (step.contains("outputs")) result = kept(result, step.at("outputs"));
      results_.push_back(from_result(result));
    }
    return result;
  }

 private:
  Value argument(const json& arg) {
    if (!arg.is_string()) return read_literal(arg.dump());
    const auto text = arg.get<std::string>();
    if (text.empty() || text[0] != '$') return of(text.c_str());
    const size_t bar = text.find('|');
    const std::string name = text.substr(1, bar == std::string::npos ? std::string::npos : bar - 1);
    Value value =
        name.size() > 1 && name[0] == 'r' && name.find_first_not_of("0123456789", 1) == std::string::npos
            ? results_.at(static_cast<size_t>(std::stoul(name.substr(1))))
            : arguments_.get(name);
    return bar == std::string::npos ? value : converted(text.substr(bar + 1), std::move(value));
  }

  // One result, or a tuple of some.
  static c10::IValue kept(const c10::IValue& result, const json& which) {
    const auto& elements = result.toTupleRef().elements();
    if (which.is_number()) return elements.at(which.get<size_t>());
    std::vector<c10::IValue> some;
    for (const json& index : which) some.push_back(elements.at(index.get<size_t>()));
    if (some.size() == 1) return some[0];
    return c10::ivalue::Tuple::create(std::move(some));
  }

  Arguments& arguments_;
  std::vector<Value> results_;
};

bool matches(const json& when, Arguments& arguments, const std::string& first) {
  for (const auto& [key, wanted] : when.items()) {
    if (key == "ndim") {
      if (arguments.tensor(first).dim() != wanted.get<int64_t>()) return false;
      continue;
    }
    const Value& value = arguments.get(key);
    if (wanted.is_null() && value.kind != Kind::none) return false;
    if (wanted == "*" && value.kind == Kind::none) return false;
    if (wanted.is_boolean() && (value.kind != Kind::boolean || value.truth != wanted.get<bool>()))
      return false;
    if (wanted.is_string() && wanted != "*" && (value.kind != Kind::text || value.text != wanted))
      return false;
  }
  return true;
}

// What torch.nn.functional does to arguments before it calls the operator.
void prepare(const std::string& name, Arguments& arguments) {
  const auto& all = arguments.all();
  const auto legacy = [&](const char* parameter) {
    return all.count(parameter) > 0 && arguments.has(parameter);
  };
  if (legacy("size_average") || legacy("reduce")) {
    const bool average = !legacy("size_average") || arguments.flag("size_average");
    const bool reduce = !legacy("reduce") || arguments.flag("reduce");
    arguments.get("reduction") = of(!reduce ? "none" : average ? "mean" : "sum");
  }
  if ((name == "softmax" || name == "softmin" || name == "log_softmax") && !arguments.has("dim")) {
    const int64_t dims = arguments.tensor("input").dim();
    arguments.get("dim") = of(int64_t{dims == 0 || dims == 1 || dims == 3 ? 0 : 1});
  }
  if (name == "binary_cross_entropy" && arguments.has("weight"))
    arguments.get("weight") = of(arguments.tensor("weight").expand_as(arguments.tensor("target")));
  if (name.rfind("adaptive_", 0) == 0 && arguments.get("output_size").kind == Kind::list) {
    std::vector<Value>& sizes = arguments.get("output_size").items;
    const at::Tensor input = arguments.tensor("input");
    const int64_t first = input.dim() - static_cast<int64_t>(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i].kind == Kind::none && first >= 0)
        sizes[i] = of(input.size(first + static_cast<int64_t>(i)));
  }
}

// Special methods that the registry has under a plain name; reflected ones with their arguments swapped.
struct Special {
  const char* name;
  const char* op;
  bool swapped;
};
constexpr Special kSpecials[] = {{"__neg__", "aten::neg", false},
                                 {"__abs__", "aten::abs", false},
                                 {"__invert__", "aten::bitwise_not", false},
                                 {"__rmatmul__", "aten::matmul", true},
                                 {"__rtruediv__", "aten::div", true},
                                 {"__rfloordiv__", "aten::floor_divide", true},
                                 {"__itruediv__", "aten::div_", false},
                                 {"__rand__", "aten::__and__", false}};

const Special* find_special(const std::string& name) {
  for (const Special& special : kSpecials)
    if (name == special.name) return &special;
  return nullptr;
}

std::vector<std::string> candidates(const std::string& type, const std::string& name) {
  std::string plain = name;
  std::replace(plain.begin(), plain.end(), '.', '_');
  if (type == "Aten") {
    plain = name.substr(0, name.find('.'));
    return {"aten::" + plain};
  }
  if (type == "NPU") return {"npu::" + plain, "aten::" + plain};
  std::vector<std::string> out = {"aten::" + plain};
  if (plain == name)
    for (const char* module : {"linalg_", "fft_", "special_"})
      out.push_back(std::string("aten::") + module + plain);
  return out;
}

bool is_random(const std::string& name) {
  static const std::set<std::string> kRandom = {"alpha_dropout",
                                                "bernoulli",
                                                "bernoulli_",
                                                "cauchy_",
                                                "dropout",
                                                "dropout1d",
                                                "dropout2d",
                                                "dropout3d",
                                                "dropout_",
                                                "exponential_",
                                                "feature_alpha_dropout",
                                                "feature_dropout",
                                                "fractional_max_pool2d",
                                                "fractional_max_pool2d_with_indices",
                                                "fractional_max_pool3d",
                                                "fractional_max_pool3d_with_indices",
                                                "geometric_",
                                                "gumbel_softmax",
                                                "log_normal_",
                                                "multinomial",
                                                "native_dropout",
                                                "normal",
                                                "normal_",
                                                "poisson",
                                                "rand",
                                                "rand_like",
                                                "randint",
                                                "randint_like",
                                                "randn",
                                                "randn_like",
                                                "random_",
                                                "randperm",
                                                "rrelu_with_noise",
                                                "uniform_"};
  return kRandom.count(name) > 0;
}

// torch.* loss functions read a reduction that is not given as "none", whatever the schema says.
void add_reduction(Call& call) {
  static const std::map<std::string, size_t> kPositions = {{"kl_div", 2},
                                                           {"margin_ranking_loss", 4},
                                                           {"hinge_embedding_loss", 3},
                                                           {"cosine_embedding_loss", 4},
                                                           {"triplet_margin_loss", 7},
                                                           {"ctc_loss", 5}};
  const auto found = kPositions.find(call.name);
  if (call.type != "Torch" || found == kPositions.end()) return;
  if (call.args.size() <= found->second && call.keyword("reduction") == nullptr)
    call.kwargs.emplace_back("reduction", of(int64_t{0}));
}

c10::IValue run_direct(const Call& call) {
  const std::vector<std::string> names = candidates(call.type, call.name);
  c10::IValue result;
  const std::string* first = nullptr;
  for (const std::string& name : names) {
    if (!has_operator(name)) continue;
    if (first == nullptr) first = &name;
    if (try_operator(name, call.args, call.kwargs, result)) return result;
  }
  return call_operator(first == nullptr ? names[0] : *first, call.args, call.kwargs);
}

}  // namespace

Route find_route(const std::string& type, const std::string& name) {
  Route route;
  route.random = is_random(name);
  const std::string api = type + "." + name;
  const bool python = type == "Functional" || type == "Tensor" || type == "Torch" || type == "VF";
  if (!python && type != "Aten" && type != "NPU") {
    route.why_not = type.empty() ? "LibTorch runs calls with names of the form Torch.matmul.2.forward"
                                 : "APIs of type " + type + " are not replayed";
    return route;
  }
  if (find_formula(api) != nullptr || find_recipe(api) != nullptr ||
      (type == "Tensor" && find_special(name) != nullptr)) {
    route.known = true;
    return route;
  }
  for (const std::string& op : candidates(type, name)) route.known = route.known || has_operator(op);
  if (!route.known) route.why_not = "this LibTorch has no operator for " + api;
  return route;
}

c10::IValue run_call(Call& call) {
  const std::string api = call.type + "." + call.name;
  if (const Formula* formula = find_formula(api)) {
    Arguments arguments(call, formula->parameters);
    return formula->run(arguments);
  }
  if (const Recipe* recipe = find_recipe(api)) {
    Arguments arguments(call, recipe->parameters);
    prepare(call.name, arguments);
    for (const json& variant : recipe->variants) {
      if (variant.contains("when") && !matches(variant["when"], arguments, recipe->parameters[0].name))
        continue;
      return Steps(arguments).run(variant.at("steps"));
    }
    throw Failure(ULPSCOPE_E_UNSUPPORTED, api + ": no form of it takes these arguments");
  }
  if (const Special* special = call.type == "Tensor" ? find_special(call.name) : nullptr) {
    std::vector<Value> args = call.args;
    if (special->swapped) std::reverse(args.begin(), args.end());
    return call_operator(special->op, args, call.kwargs);
  }
  add_reduction(call);
  return run_direct(call);
}

}  // namespace ulpscope::torch_executor
