#include "locate/priors.hpp"

#include <yaml-cpp/yaml.h>

#include <cmath>

#include "base/text.hpp"
#include "locate/priors_yaml.hpp"

namespace ulpscope {
namespace {

std::string place(const YAML::Mark& mark) {
  return "priors.yaml:" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1) + ": ";
}

Result<double> positive(const YAML::Node& node, const char* name) {
  double value = 0;
  if (!node.IsScalar() || !YAML::convert<double>::decode(node, value) || !(value > 0) ||
      !std::isfinite(value))
    return Error{Code::usage, place(node.Mark()) + name + ": expected a positive number"};
  return value;
}

Result<std::vector<OpClass>> read_classes(const YAML::Node& list) {
  if (!list.IsSequence()) return Error{Code::usage, place(list.Mark()) + "classes: expected a list"};
  std::vector<OpClass> classes;
  for (const YAML::Node& node : list) {
    if (!node.IsMap() || !node["name"] || !node["types"] || !node["kappa"] || !node["types"].IsSequence())
      return Error{Code::usage, place(node.Mark()) + "expected {name, types: [...], kappa}"};
    OpClass entry;
    entry.name = node["name"].as<std::string>();
    for (const YAML::Node& type : node["types"]) entry.types.push_back(type.as<std::string>());
    ULPSCOPE_ASSIGN(entry.kappa, positive(node["kappa"], "kappa"));
    for (const auto& [key, value] :
         {std::pair("usual_bits", &entry.usual_bits), std::pair("absolute_kappa", &entry.absolute_kappa),
          std::pair("distant_bits", &entry.distant_bits)}) {
      if (!node[key]) continue;
      ULPSCOPE_ASSIGN(*value, positive(node[key], key));
    }
    if (node["selects"]) entry.selects = node["selects"].as<bool>();
    if (node["wide_sums"]) entry.wide_sums = node["wide_sums"].as<bool>();
    if (node["sensitive"]) entry.sensitive = node["sensitive"].as<bool>();
    classes.push_back(std::move(entry));
  }
  return classes;
}

Result<Priors> read(const YAML::Node& root) {
  Priors priors;
  double group_size = 0, small_group_size = 0;
  const std::pair<const char*, double*> numbers[] = {{"format_constant", &priors.format_constant},
                                                     {"worst_constant", &priors.worst_constant},
                                                     {"outlier_bits", &priors.outlier_bits},
                                                     {"outlier_deviations", &priors.outlier_deviations},
                                                     {"group_size", &group_size},
                                                     {"small_group_size", &small_group_size},
                                                     {"small_group_bits", &priors.small_group_bits},
                                                     {"statistics_bits", &priors.statistics_bits},
                                                     {"bias_constant", &priors.bias_constant},
                                                     {"deterministic_share", &priors.deterministic_share},
                                                     {"clean_input", &priors.clean_input},
                                                     {"external_constant", &priors.external_constant},
                                                     {"rare_type_bits", &priors.rare_type_bits},
                                                     {"ordinary_bits", &priors.ordinary_bits},
                                                     {"statistics_factor", &priors.statistics_factor},
                                                     {"roundings_of_product", &priors.roundings_of_product},
                                                     {"own_rounding_size", &priors.own_rounding_size},
                                                     {"own_rounding_factor", &priors.own_rounding_factor},
                                                     {"rewired_factor", &priors.rewired_factor},
                                                     {"other_kappa", &priors.other_kappa}};
  if (!root.IsMap()) return Error{Code::usage, place(root.Mark()) + "expected a map"};
  for (const auto& [name, value] : numbers) {
    const YAML::Node node = root[name];
    if (!node) return Error{Code::usage, std::string("priors.yaml: ") + name + " is missing"};
    ULPSCOPE_ASSIGN(*value, positive(node, name));
  }
  priors.group_size = static_cast<int>(group_size);
  priors.small_group_size = static_cast<int>(small_group_size);
  if (!root["classes"]) return Error{Code::usage, "priors.yaml: classes is missing"};
  ULPSCOPE_ASSIGN(priors.classes, read_classes(root["classes"]));
  return priors;
}

}  // namespace

const OpClass* Priors::class_of(std::string_view type) const {
  for (const OpClass& entry : classes)
    for (const std::string& glob : entry.types)
      if (glob_match(glob, type, true)) return &entry;
  return nullptr;
}

double Priors::kappa(std::string_view type) const {
  const OpClass* found = class_of(type);
  return found == nullptr ? other_kappa : found->kappa;
}

Result<Priors> parse_priors(std::string_view yaml) {
  try {
    return read(YAML::Load(std::string(yaml)));
  } catch (const YAML::Exception& problem) {
    return Error{Code::usage, place(problem.mark) + problem.msg};
  }
}

Result<Priors> load_priors() { return parse_priors(kPriorsYaml); }

}  // namespace ulpscope
