#include "flow/stage_file.hpp"

#include <yaml-cpp/yaml.h>

#include <cmath>
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "match/yaml_limits.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 20;  // the parser holds a hundred times the text

// Values of one file; errors name file and line.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Error error(const YAML::Node& node, const std::string& text) const {
    return {Code::usage, path_ + ": line " + std::to_string(node.Mark().line + 1) + ": " + text};
  }

  Result<std::string> text(const YAML::Node& node, const std::string& name) const {
    if (!node.IsScalar()) return error(node, name + ": expected a text");
    return node.Scalar();
  }
  Result<bool> boolean(const YAML::Node& node, const std::string& name) const {
    bool value = false;
    if (!node.IsScalar() || !YAML::convert<bool>::decode(node, value))
      return error(node, name + ": expected true or false");
    return value;
  }
  Result<double> share(const YAML::Node& node, const std::string& name) const {
    const auto value = node.IsScalar() ? parse_double(node.Scalar()) : std::nullopt;
    if (!value || !(*value > 0 && *value <= 1))
      return error(node, name + ": expected a number above 0, at most 1");
    return *value;
  }
  Result<int64_t> count(const YAML::Node& node, const std::string& name) const {
    const auto value = node.IsScalar() ? parse_int(node.Scalar()) : std::nullopt;
    if (!value || *value < 1) return error(node, name + ": expected a whole number from 1 on");
    return *value;
  }
  Result<std::string> place(const YAML::Node& node, const std::string& name) const {
    ULPSCOPE_ASSIGN(const std::string value, text(node, name));
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    return value.empty() ? value : (folder / value).lexically_normal().string();
  }

  Result<Stage> stage(const YAML::Node& node) const {
    if (!node.IsMap()) return error(node, "expected a stage with name and dump");
    Stage stage;
    for (const auto& member : node) {
      const std::string name = member.first.IsScalar() ? member.first.Scalar() : std::string();
      ULPSCOPE_TRY(stage_member(member.second, name, stage));
    }
    if (stage.name.empty()) return error(node, "a stage without a name");
    if (stage.dump.empty()) return error(node, "stage " + printable(stage.name) + ": the dump is missing");
    return stage;
  }

  Status stages(const YAML::Node& list, StageFile& out) const {
    if (!list.IsSequence()) return error(list, "stages: expected a list");
    for (const auto& each : list) {
      ULPSCOPE_ASSIGN(Stage read, stage(each));
      if (out.find(read.name) != nullptr)
        return error(each, "stage " + printable(read.name) + " stands twice");
      out.stages.push_back(std::move(read));
    }
    return {};
  }

  Status top_member(const YAML::Node& node, const std::string& name, StageFile& out) const {
    if (name == "source") {
      ULPSCOPE_ASSIGN(out.source, text(node, name));
    } else if (name == "golden") {
      ULPSCOPE_ASSIGN(out.golden, place(node, name));
    } else if (name == "op_limit") {
      ULPSCOPE_ASSIGN(out.op_limit, share(node, name));
    } else if (name == "accuracy_limit") {
      ULPSCOPE_ASSIGN(out.accuracy_limit, share(node, name));
    } else if (name == "batch") {
      ULPSCOPE_ASSIGN(out.batch, count(node, name));
    } else if (name == "max_rounds") {
      ULPSCOPE_ASSIGN(out.max_rounds, count(node, name));
    } else if (name == "keep_performance") {
      ULPSCOPE_ASSIGN(out.keep_performance, boolean(node, name));
    } else if (name == "data_check") {
      ULPSCOPE_ASSIGN(const std::string answer, text(node, name));
      if (answer != "right" && answer != "wrong") return error(node, "data_check: expected right or wrong");
      out.data_right = answer == "right";
    } else if (name == "stages") {
      ULPSCOPE_TRY(stages(node, out));
    } else {
      return error(node, "unknown member '" + printable(name) + "'");
    }
    return {};
  }

 private:
  Status stage_member(const YAML::Node& node, const std::string& name, Stage& out) const {
    if (name == "name") {
      ULPSCOPE_ASSIGN(out.name, text(node, name));
    } else if (name == "dump") {
      ULPSCOPE_ASSIGN(out.dump, place(node, name));
    } else if (name == "fusion") {
      ULPSCOPE_ASSIGN(out.fusion, place(node, name));
    } else if (name == "options") {
      ULPSCOPE_ASSIGN(out.options, text(node, name));
    } else if (name == "met") {
      ULPSCOPE_ASSIGN(out.met, boolean(node, name));
    } else if (name == "keep") {
      if (!node.IsSequence()) return error(node, "keep: expected a list of operators");
      for (const auto& each : node) {
        ULPSCOPE_ASSIGN(std::string op, text(each, name));
        out.keep.push_back(std::move(op));
      }
    } else {
      return error(node, "unknown member '" + printable(name) + "' of a stage");
    }
    return {};
  }

  const std::string& path_;
};

}  // namespace

const Stage* StageFile::find(std::string_view name) const {
  for (const Stage& stage : stages)
    if (stage.name == name) return &stage;
  return nullptr;
}

Result<StageFile> read_stage_file(const std::string& path) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  ULPSCOPE_ASSIGN(const std::string text, file.read_text(kMaxBytes));
  ULPSCOPE_TRY(check_yaml(path, text));
  const Reader reader(path);
  StageFile out;
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap() && !root.IsSequence())
      return Error{Code::usage, path + ": not a stage file: expected a list of stages under 'stages'"};
    // A bare list is one of stages, with every setting at its default.
    if (root.IsSequence()) ULPSCOPE_TRY(reader.stages(root, out));
    for (const auto& member : root) {
      if (root.IsSequence()) break;
      const std::string name = member.first.IsScalar() ? member.first.Scalar() : std::string();
      ULPSCOPE_TRY(reader.top_member(member.second, name, out));
    }
  } catch (const YAML::Exception& error) {
    return Error{Code::usage, path + ": line " + std::to_string(error.mark.line + 1) + ": " + error.msg};
  }
  if (out.find("origin") == nullptr)
    return Error{Code::usage,
                 path + ": the stage origin is missing: the build and run that gave the wrong result"};
  return out;
}

}  // namespace ulpscope
