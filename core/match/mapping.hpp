// What a user says about the names of two dumps: the peer's mapping files (rows, modules, APIs, layers) and
// the mapping file of this program. Loaded here, applied by mapping_rules.hpp. Loaders read a file and add to
// the mapping; each answers io for an unreadable file and usage with file, line and column for a wrong one.
// Any thread. The formats are described in docs/mapping.md.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "match/name_pattern.hpp"

namespace ulpscope {

// Where a rule stands, counted from 1; shown as "file:line:column".
struct RulePlace {
  std::string file;
  int line = 0, column = 0;
};
std::string to_text(const RulePlace& place);

// A name of the target and what it is called in golden.
struct NameRule {
  std::string target, golden;
  RulePlace place;
};

// An item as a user names it: "input.0", "parameters.weight".
struct ItemName {
  Role role = Role::input;  // never kwarg: keywords are inputs
  std::string path;
};
// Nothing when text does not begin with a word for a role, a dot and a path. Takes the words of row names
// (input, kwargs, output, parameters, parameters_grad) and those of this program.
std::optional<ItemName> parse_item_name(std::string_view text);

struct ItemNameRule {
  ItemName target, golden;
};
struct ApiRule {
  std::string target, golden;  // "Functional.abs"
  std::vector<ItemNameRule> items;
  RulePlace place;
};

// The children of a container class (TopLayer: of the root), longest target path first.
struct LayerRule {
  std::string type;
  std::vector<NameRule> children;
  RulePlace place;
};

struct OpRule {
  NamePattern target, golden;
  RulePlace place;
};
struct ItemRule {
  NamePattern op;  // name of the target's op
  std::vector<ItemNameRule> items;
  RulePlace place;
};

struct Mapping {
  std::vector<NameRule> rows;     // -dm: full row names
  std::vector<NameRule> cells;    // -cm: module path with class, or any part of a name
  std::vector<ApiRule> apis;      // -am
  std::vector<LayerRule> layers;  // -lm
  std::vector<OpRule> ops;        // --mapping
  std::vector<ItemRule> items;    // --mapping
  bool cell_to_module = false;    // -cm, with or without file: "Cell" at the front means "Module"
};

Status load_data_mapping(const std::string& path, Mapping& mapping);
Status load_cell_mapping(const std::string& path, Mapping& mapping);
Status load_api_mapping(const std::string& path, Mapping& mapping);
Status load_layer_mapping(const std::string& path, Mapping& mapping);
Status load_mapping(const std::string& path, Mapping& mapping);

}  // namespace ulpscope
