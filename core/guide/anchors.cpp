#include "guide/anchors.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/text.hpp"
#include "guide/anchors_yaml.hpp"
#include "match/yaml_limits.hpp"

namespace ulpscope {
namespace {

class TableReader {
 public:
  explicit TableReader(std::string path) : path_(std::move(path)) {}

  Result<AnchorTable> read(const YAML::Node& root) {
    AnchorTable table;
    if (!root.IsMap() || !root["known"] || !root["anchors"] || !root["anchors"].IsSequence())
      return wrong(root, "expected a mapping with known and anchors");
    ULPSCOPE_TRY(read_known(root["known"]["vllm"], table.vllm));
    ULPSCOPE_TRY(read_known(root["known"]["vllm_ascend"], table.vllm_ascend));
    for (const YAML::Node& node : root["anchors"]) {
      ULPSCOPE_ASSIGN(Anchor anchor, read_anchor(node));
      table.anchors.push_back(std::move(anchor));
    }
    for (const YAML::Node& node : root["switches"]) {
      ULPSCOPE_ASSIGN(const EngineVersion from, version(node, "from"));
      table.switches.push_back({from, text(node, "switch"), text(node, "graphs") == "true"});
    }
    return table;
  }

 private:
  Error wrong(const YAML::Node& node, const std::string& what) const {
    return {Code::usage, printable(path_) + ":" + std::to_string(node.Mark().line + 1) + ": " + what};
  }

  static std::string text(const YAML::Node& node, const char* key) {
    return node.IsMap() && node[key] && node[key].IsScalar() ? node[key].Scalar() : std::string();
  }

  Result<EngineVersion> version(const YAML::Node& node, const char* key) const {
    auto parsed = parse_engine_version(text(node, key));
    if (!parsed) return wrong(node, std::string(key) + ": expected a version such as \"0.9.1\"");
    return std::move(*parsed);
  }

  Status read_known(const YAML::Node& node, AnchorTable::Known& known) const {
    if (!node || !node.IsMap())
      return Error{Code::usage, printable(path_) + ": known: expected first and last"};
    ULPSCOPE_ASSIGN(known.first, version(node, "first"));
    ULPSCOPE_ASSIGN(known.last, version(node, "last"));
    return {};
  }

  Result<Anchor> read_anchor(const YAML::Node& node) const {
    if (!node.IsMap()) return wrong(node, "expected an anchor as a mapping");
    Anchor anchor;
    anchor.id = text(node, "id");
    anchor.project = text(node, "project");
    anchor.engine = text(node, "engine");
    anchor.runner = text(node, "runner");
    anchor.file = text(node, "file");
    anchor.class_name = text(node, "class");
    anchor.method = text(node, "method");
    anchor.argument = text(node, "argument");
    anchor.starts_with = text(node, "starts_with");
    anchor.called = text(node, "called");
    anchor.owner = text(node, "owner");
    anchor.optional = text(node, "optional") == "true";
    if (anchor.id.empty() || anchor.file.empty() || anchor.method.empty())
      return wrong(node, "expected id, file and method");
    ULPSCOPE_ASSIGN(anchor.first, version(node, "first"));
    if (node["last"]) {
      ULPSCOPE_ASSIGN(EngineVersion last, version(node, "last"));
      anchor.last = std::move(last);
    }
    if (node["before"]) {
      ULPSCOPE_ASSIGN(EngineVersion before, version(node, "before"));
      anchor.before = std::move(before);
    }
    for (const YAML::Node& word : node["call"]) anchor.call.push_back(word.Scalar());
    for (const YAML::Node& entry : node["counts"]) {
      Anchor::Counts counts;
      ULPSCOPE_ASSIGN(counts.from, version(entry, "from"));
      for (const YAML::Node& count : entry["counts"])
        counts.counts.push_back(parse_int(count.Scalar()).value_or(-1));
      anchor.counts.push_back(std::move(counts));
    }
    return anchor;
  }

  std::string path_;
};

}  // namespace

bool Anchor::knows(const EngineVersion& version) const {
  if (version < first) return false;
  if (last && !is_at_most(version, *last)) return false;
  return !before || version < *before;
}

std::vector<int64_t> Anchor::returns_at(const EngineVersion& version) const {
  size_t behind = 0;  // the first entry that is later than the version
  while (behind < counts.size() && !(version < counts[behind].from)) ++behind;
  if (behind == 0) return {};
  std::vector<int64_t> found = counts[behind - 1].counts;
  if (!version.is_development) return found;
  // Source between two releases may have the shape of either.
  for (size_t i = behind > 1 ? behind - 2 : 0; i < std::min(behind + 1, counts.size()); ++i)
    found.insert(found.end(), counts[i].counts.begin(), counts[i].counts.end());
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

const Anchor* AnchorTable::find(std::string_view id) const {
  for (const Anchor& anchor : anchors)
    if (anchor.id == id) return &anchor;
  return nullptr;
}

bool AnchorTable::knows(const EngineVersion& version) const {
  return !(version < vllm.first) && is_at_most(version, vllm.last);
}

std::string AnchorTable::nearest(const EngineVersion& version) const {
  return version < vllm.first ? vllm.first.text : vllm.last.text;
}

const AscendSwitch* AnchorTable::switch_at(const EngineVersion& version) const {
  const AscendSwitch* found = nullptr;
  for (const AscendSwitch& each : switches)
    if (!(version < each.from)) found = &each;
  return found;
}

Result<AnchorTable> AnchorTable::builtin() {
  return read_anchor_table("anchors.yaml", std::string(kAnchorsYaml));
}

Result<AnchorTable> read_anchor_table(const std::string& path, const std::string& text) {
  ULPSCOPE_TRY(check_yaml(path, text));
  try {
    return TableReader(path).read(YAML::Load(text));
  } catch (const YAML::Exception& problem) {
    return Error{Code::usage, printable(path) + ":" + std::to_string(problem.mark.line + 1) +
                                  ": not an anchor table: " + problem.msg};
  }
}

}  // namespace ulpscope
