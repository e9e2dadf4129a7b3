#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "match/mapping.hpp"
#include "match/yaml_limits.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMaxFileBytes = 16 * 1024 * 1024;

// A file that is being read. Its members answer usage errors with the place of a node.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  RulePlace place(const YAML::Node& node) const { return place(node.Mark()); }
  Error wrong(const YAML::Node& node, const std::string& text) const {
    return {Code::usage, to_text(place(node)) + ": " + text};
  }

  // Runs read(root) on the parsed file; what the parser throws becomes an error.
  template <class F>
  Status run(F read) const {
    ULPSCOPE_ASSIGN(const File file, File::open(path_));
    ULPSCOPE_ASSIGN(const std::string text, file.read_text(kMaxFileBytes));
    ULPSCOPE_TRY(check_yaml(path_, text));
    try {
      const YAML::Node root = YAML::Load(text);
      if (!root.IsDefined() || root.IsNull())
        return Error{Code::usage, path_ + ": the file is empty, expected mapping rules"};
      return read(root);
    } catch (const YAML::Exception& e) {
      return Error{Code::usage, to_text(place(e.mark)) + ": not YAML: " + e.msg};
    }
  }

  // Calls take(key text, key node, value node) for each member of a mapping; a key that stands twice is
  // refused.
  template <class F>
  Status members(const YAML::Node& node, const std::string& what, F take) const {
    if (!node.IsMap()) return wrong(node, "expected " + what);
    std::set<std::string> keys;
    for (const auto& member : node) {
      if (!member.first.IsScalar() || member.first.Scalar().empty())
        return wrong(member.first, "expected a name before the colon");
      const std::string& key = member.first.Scalar();
      if (!keys.insert(key).second) return wrong(member.first, "\"" + printable(key) + "\" stands twice");
      ULPSCOPE_TRY(take(key, member.first, member.second));
    }
    return {};
  }

  Result<std::string> name(const YAML::Node& node, const std::string& of) const {
    if (!node.IsScalar() || node.Scalar().empty())
      return wrong(node, "expected a name for \"" + printable(of) + "\"");
    return node.Scalar();
  }

  // A flat mapping of names to names.
  Status names(const YAML::Node& node, std::vector<NameRule>& rules) const {
    return members(
        node, "lines of the form  name: name",
        [&](const std::string& key, const YAML::Node& key_node, const YAML::Node& value) -> Status {
          ULPSCOPE_ASSIGN(const std::string golden, name(value, key));
          rules.push_back({key, golden, place(key_node)});
          return {};
        });
  }

  static Error wrong(const RulePlace& place, const std::string& text) {
    return {Code::usage, to_text(place) + ": " + text};
  }
  static Result<NamePattern> pattern(const RulePlace& place, const std::string& text) {
    auto parsed = NamePattern::parse(text);
    if (!parsed.ok()) return wrong(place, parsed.error().message);
    return parsed;
  }

 private:
  RulePlace place(const YAML::Mark& mark) const { return {path_, mark.line + 1, mark.column + 1}; }
  std::string path_;
};

// What the peer's API mapping calls the argument lists of one API. It has been written both ways: output,
// outputs.
struct ListName {
  const char* name;
  Role role;
};
constexpr ListName kLists[] = {{"args", Role::input},
                               {"output", Role::output},
                               {"outputs", Role::output},
                               {"parameters", Role::parameter},
                               {"parameters_grad", Role::gradient}};

Result<std::vector<std::string>> read_list(const Reader& reader, const YAML::Node& node) {
  std::vector<std::string> out;
  if (!node.IsDefined() || node.IsNull()) return out;
  if (!node.IsSequence()) return reader.wrong(node, "expected a list of arguments");
  for (const auto& element : node) {
    if (!element.IsScalar()) return reader.wrong(element, "expected the number or name of an argument");
    out.push_back(element.Scalar());
  }
  return out;
}

Status check_api_members(const Reader& reader, const YAML::Node& node) {
  std::set<std::string> known = {"ms_api", "pt_api"};
  for (const ListName& list : kLists)
    known.insert({std::string("ms_") + list.name, std::string("pt_") + list.name});
  return reader.members(node, "an API with ms_api and pt_api",
                        [&](const std::string& key, const YAML::Node& key_node, const YAML::Node&) -> Status {
                          if (known.contains(key)) return {};
                          return reader.wrong(key_node, "\"" + printable(key) +
                                                            "\" is not known, expected ms_api, "
                                                            "pt_api or lists like ms_args and pt_args");
                        });
}

Status read_api(const Reader& reader, const YAML::Node& node, Mapping& mapping) {
  ULPSCOPE_TRY(check_api_members(reader, node));
  ApiRule rule;
  rule.place = reader.place(node);
  if (!node["ms_api"] || !node["pt_api"]) return reader.wrong(node, "expected both ms_api and pt_api");
  ULPSCOPE_ASSIGN(rule.target, reader.name(node["ms_api"], "ms_api"));
  ULPSCOPE_ASSIGN(rule.golden, reader.name(node["pt_api"], "pt_api"));
  for (const ListName& list : kLists) {
    const std::string ms = std::string("ms_") + list.name, pt = std::string("pt_") + list.name;
    if (!node[ms] && !node[pt]) continue;
    ULPSCOPE_ASSIGN(const std::vector<std::string> target, read_list(reader, node[ms]));
    ULPSCOPE_ASSIGN(const std::vector<std::string> golden, read_list(reader, node[pt]));
    if (target.size() != golden.size())
      return reader.wrong(node, ms + " has " + std::to_string(target.size()) + " arguments and " + pt +
                                    " has " + std::to_string(golden.size()) + ", expected as many");
    for (size_t i = 0; i < target.size(); ++i)
      rule.items.push_back({{list.role, target[i]}, {list.role, golden[i]}});
  }
  mapping.apis.push_back(std::move(rule));
  return {};
}

Status read_ops(const Reader& reader, const YAML::Node& node, Mapping& mapping) {
  std::vector<NameRule> names;
  ULPSCOPE_TRY(reader.names(node, names));
  for (const NameRule& rule : names) {
    // By its place, not by node[name]: a mapping of YAML is searched from its start for every name.
    ULPSCOPE_ASSIGN(NamePattern target, Reader::pattern(rule.place, rule.target));
    ULPSCOPE_ASSIGN(NamePattern golden, Reader::pattern(rule.place, rule.golden));
    const std::vector<std::string> known = target.capture_names();
    for (const std::string& used : golden.capture_names())
      if (std::find(known.begin(), known.end(), used) == known.end())
        return Reader::wrong(rule.place, "{" + used + "} is not in \"" + printable(rule.target) + "\"");
    mapping.ops.push_back({std::move(target), std::move(golden), rule.place});
  }
  return {};
}

Status read_item_names(const Reader& reader, const YAML::Node& node, ItemRule& rule) {
  std::vector<NameRule> names;
  ULPSCOPE_TRY(reader.names(node, names));
  for (const NameRule& name : names) {
    auto target = parse_item_name(name.target), golden = parse_item_name(name.golden);
    if (!target || !golden)
      return Error{Code::usage, to_text(name.place) + ": \"" + printable(target ? name.golden : name.target) +
                                    "\" is no item, expected input, output, parameter or gradient, a dot and "
                                    "a number or name"};
    rule.items.push_back({std::move(*target), std::move(*golden)});
  }
  return {};
}

Status read_items(const Reader& reader, const YAML::Node& node, Mapping& mapping) {
  return reader.members(
      node, "ops with their items",
      [&](const std::string& key, const YAML::Node& key_node, const YAML::Node& value) -> Status {
        ULPSCOPE_ASSIGN(NamePattern op, Reader::pattern(reader.place(key_node), key));
        ItemRule rule = {std::move(op), {}, reader.place(key_node)};
        ULPSCOPE_TRY(read_item_names(reader, value, rule));
        mapping.items.push_back(std::move(rule));
        return {};
      });
}

// The peer drops what follows a bracket in a golden child: "layers(ModuleList)".
std::string before_bracket(const std::string& text) { return text.substr(0, text.find('(')); }

}  // namespace

std::string to_text(const RulePlace& place) {
  if (place.line <= 0) return place.file;
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::optional<ItemName> parse_item_name(std::string_view text) {
  constexpr std::pair<std::string_view, Role> kWords[] = {
      {"input", Role::input},          {"kwargs", Role::input},        {"kwarg", Role::input},
      {"input_args", Role::input},     {"input_kwargs", Role::input},  {"output", Role::output},
      {"parameters", Role::parameter}, {"parameter", Role::parameter}, {"parameters_grad", Role::gradient},
      {"gradient", Role::gradient}};
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot + 1 == text.size()) return std::nullopt;
  for (const auto& [word, role] : kWords)
    if (text.substr(0, dot) == word) return ItemName{role, std::string(text.substr(dot + 1))};
  return std::nullopt;
}

Status load_data_mapping(const std::string& path, Mapping& mapping) {
  const Reader reader(path);
  return reader.run([&](const YAML::Node& root) { return reader.names(root, mapping.rows); });
}

Status load_cell_mapping(const std::string& path, Mapping& mapping) {
  mapping.cell_to_module = true;
  const Reader reader(path);
  return reader.run([&](const YAML::Node& root) { return reader.names(root, mapping.cells); });
}

Status load_api_mapping(const std::string& path, Mapping& mapping) {
  const Reader reader(path);
  return reader.run([&](const YAML::Node& root) -> Status {
    if (!root.IsSequence()) return reader.wrong(root, "expected a list of APIs");
    for (const auto& element : root) ULPSCOPE_TRY(read_api(reader, element, mapping));
    return {};
  });
}

Status load_layer_mapping(const std::string& path, Mapping& mapping) {
  const Reader reader(path);
  return reader.run([&](const YAML::Node& root) {
    return reader.members(
        root, "container classes with their children",
        [&](const std::string& key, const YAML::Node& key_node, const YAML::Node& value) -> Status {
          LayerRule rule = {key == "Cell" ? "TopLayer" : key, {}, reader.place(key_node)};
          ULPSCOPE_TRY(reader.names(value, rule.children));
          for (NameRule& child : rule.children) child.golden = before_bracket(child.golden);
          std::stable_sort(
              rule.children.begin(), rule.children.end(),
              [](const NameRule& a, const NameRule& b) { return a.target.size() > b.target.size(); });
          mapping.layers.push_back(std::move(rule));
          return {};
        });
  });
}

Status load_mapping(const std::string& path, Mapping& mapping) {
  const Reader reader(path);
  return reader.run([&](const YAML::Node& root) {
    return reader.members(
        root, "ops: or items:",
        [&](const std::string& key, const YAML::Node& key_node, const YAML::Node& value) -> Status {
          if (key == "ops") return read_ops(reader, value, mapping);
          if (key == "items") return read_items(reader, value, mapping);
          return reader.wrong(key_node, "\"" + printable(key) + "\" is not known, expected ops or items");
        });
  });
}

}  // namespace ulpscope
