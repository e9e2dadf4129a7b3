#include "config_check/catalogue.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "config_check/catalogue_yaml.hpp"
#include "match/yaml_limits.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 20;

const std::vector<std::string> kSections = {
    "env",       "pip",      "launch", "model_config", "generation_config",
    "tokenizer", "sampling", "mindie", "versions"};
const std::vector<std::string> kLists = {
    "error",    "warning",  "info",         "ignore",      "default",       "prefixes",       "ignored_parts",
    "gpu_only", "npu_only", "counterparts", "determinism", "equal_devices", "device_specific"};

Error wrong(const std::string& path, const YAML::Mark& mark, const std::string& text) {
  return {Code::usage, printable(path) + ":" + std::to_string(mark.line + 1) + ":" +
                           std::to_string(mark.column + 1) + ": " + text};
}

// "ModelConfig[0].worldSize" as "ModelConfig.worldSize": lists do not count in patterns.
std::string without_indexes(std::string_view key) {
  std::string out;
  for (size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '[') {
      const size_t end = key.find(']', i);
      if (end != std::string_view::npos && end > i + 1 &&
          key.substr(i + 1, end - i - 1).find_first_not_of("0123456789") == std::string_view::npos) {
        i = end;
        continue;
      }
    }
    out += key[i];
  }
  return out;
}

bool matches(std::string_view pattern, std::string_view key, bool any_part) {
  if (glob_match(pattern, key)) return true;
  for (size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', dot + 1)) {
    if (glob_match(pattern, key.substr(0, dot))) return true;
    if (any_part && matches(pattern, key.substr(dot + 1), false)) return true;
  }
  return false;
}

Status read_list(const std::string& path, const std::string& key, const YAML::Node& node,
                 std::vector<std::string>& list) {
  if (key == "default") {
    const bool known = node.IsScalar() && (node.Scalar() == "error" || node.Scalar() == "warning" ||
                                           node.Scalar() == "info" || node.Scalar() == "ignore");
    if (!known) return wrong(path, node.Mark(), "default: expected error, warning, info or ignore");
    list = {node.Scalar()};
    return {};
  }
  if (!node.IsSequence()) return wrong(path, node.Mark(), "'" + key + "': expected a list of names");
  for (const YAML::Node& item : node) {
    if (!item.IsScalar()) return wrong(path, item.Mark(), "'" + key + "': expected a name");
    list.push_back(item.Scalar());
  }
  return {};
}

}  // namespace

std::string_view to_text(ConfigSeverity severity) {
  constexpr std::array<std::string_view, 4> kWords = {"error", "warning", "info", "ignored"};
  return kWords[static_cast<size_t>(severity)];
}

Result<Catalogue::Sections> Catalogue::read(const std::string& path, const std::string& text) {
  ULPSCOPE_TRY(check_yaml(path, text));
  Sections sections;
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) return wrong(path, root.Mark(), "expected a catalogue as a mapping of sections");
    for (const auto& section : root) {
      const std::string name = section.first.IsScalar() ? section.first.Scalar() : "";
      if (name == "version") {
        if (!section.second.IsScalar() || section.second.Scalar() != "1")
          return wrong(path, section.second.Mark(), "version: expected 1");
        continue;
      }
      if (std::find(kSections.begin(), kSections.end(), name) == kSections.end())
        return wrong(path, section.first.Mark(),
                     "unknown section '" + printable(name) + "'" + suggestion(name, kSections));
      if (!section.second.IsMap())
        return wrong(path, section.second.Mark(), "'" + name + "': expected lists such as error: [names]");
      for (const auto& list : section.second) {
        const std::string key = list.first.IsScalar() ? list.first.Scalar() : "";
        if (std::find(kLists.begin(), kLists.end(), key) == kLists.end())
          return wrong(path, list.first.Mark(),
                       "unknown list '" + printable(key) + "'" + suggestion(key, kLists));
        ULPSCOPE_TRY(read_list(path, key, list.second, sections[name][key]));
      }
    }
  } catch (const YAML::Exception& problem) {
    return wrong(path, problem.mark, "not YAML: " + problem.msg);
  }
  return sections;
}

Result<Catalogue> Catalogue::builtin() {
  Catalogue catalogue;
  ULPSCOPE_ASSIGN(Sections sections, read("catalogue.yaml", std::string(kCatalogueYaml)));
  catalogue.layers_.push_back(std::move(sections));
  return catalogue;
}

Status Catalogue::extend(const std::string& path) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  ULPSCOPE_ASSIGN(const std::string text, file.read_text(kMostBytes));
  ULPSCOPE_ASSIGN(Sections sections, read(path, text));
  layers_.insert(layers_.begin(), std::move(sections));
  return {};
}

ConfigSeverity Catalogue::severity(std::string_view section, std::string_view key, bool any_part) const {
  const std::string plain = without_indexes(key);
  constexpr std::array<std::pair<std::string_view, ConfigSeverity>, 4> kOrder = {
      {{"ignore", ConfigSeverity::ignored},
       {"error", ConfigSeverity::error},
       {"warning", ConfigSeverity::warning},
       {"info", ConfigSeverity::info}}};
  const auto each = [&](auto take) {
    for (const Sections& layer : layers_) {
      const auto lists = layer.find(section);
      if (lists == layer.end()) continue;
      for (const auto& [word, severity] : kOrder)
        if (take(lists->second, word)) return severity;
    }
    return ConfigSeverity::info;
  };
  bool found = false;
  const ConfigSeverity listed = each([&](const Lists& lists, std::string_view word) {
    const auto list = lists.find(word);
    if (list == lists.end()) return false;
    found = std::any_of(list->second.begin(), list->second.end(),
                        [&](const std::string& pattern) { return matches(pattern, plain, any_part); });
    return found;
  });
  if (found) return listed;
  return each([&](const Lists& lists, std::string_view word) {
    const auto list = lists.find("default");
    return list != lists.end() && list->second.front() == word;
  });
}

bool Catalogue::lists(std::string_view section, std::string_view key) const {
  for (const std::string_view name : {"ignore", "error", "warning", "info"})
    if (in_list(section, name, key)) return true;
  return false;
}

std::vector<std::string> Catalogue::list(std::string_view section, std::string_view name) const {
  std::vector<std::string> all;
  for (const Sections& layer : layers_) {
    const auto lists = layer.find(section);
    if (lists == layer.end()) continue;
    const auto list = lists->second.find(name);
    if (list != lists->second.end()) all.insert(all.end(), list->second.begin(), list->second.end());
  }
  return all;
}

bool Catalogue::in_list(std::string_view section, std::string_view list_name, std::string_view key) const {
  const std::vector<std::string> names = list(section, list_name);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& pattern) { return glob_match(pattern, key); });
}

}  // namespace ulpscope
