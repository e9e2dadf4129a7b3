#include "cli/check_settings.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/file.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "match/yaml_limits.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 20;
constexpr int64_t kMostDigits = 20;

Error wrong(const std::string& where, const std::string& expected) {
  return {Code::usage, where + ": expected " + expected};
}

Result<CheckSettings::Names> names_of(const YAML::Node& node, const std::string& where) {
  CheckSettings::Names names;
  if (node.IsNull()) return names;
  if (!node.IsSequence()) return wrong(where, "a list of API names");
  for (const YAML::Node& entry : node) {
    if (!entry.IsScalar() || entry.Scalar().empty()) return wrong(where, "a list of API names");
    names.insert(entry.Scalar());
  }
  return names;
}

Status take(const std::string& key, const YAML::Node& node, const std::string& path, CheckSettings& out) {
  const std::string where = path + ": " + printable(key);
  if (key == "white_list" || key == "black_list") {
    ULPSCOPE_ASSIGN((key[0] == 'w' ? out.white : out.black), names_of(node, where));
    return {};
  }
  if (key == "quantization_api_list") {
    ULPSCOPE_ASSIGN(out.quantised, names_of(node, where));
    return {};
  }
  if (key == "error_data_path") {
    if (!node.IsScalar()) return wrong(where, "a folder");
    out.error_data_path = node.Scalar();
    std::error_code failed;
    if (!std::filesystem::is_directory(out.error_data_path, failed))
      return wrong(where, "a folder that is there, not '" + printable(out.error_data_path) + "'");
    return {};
  }
  if (key == "precision") {
    const auto digits = node.IsScalar() ? parse_int(node.Scalar()) : std::nullopt;
    if (!digits || *digits < 0 || *digits > kMostDigits) return wrong(where, "a number from 0 to 20");
    out.digits = static_cast<int>(*digits);
    return {};
  }
  return Error{Code::usage, where + ": unknown key" +
                                suggestion(key, {"white_list", "black_list", "error_data_path", "precision",
                                                 "quantization_api_list"})};
}

// JSON is read as the YAML that it is.
Status read(const std::string& path, bool json, CheckSettings& out) {
  const auto file = File::open(path);
  if (!file.ok()) return Error{Code::usage, file.error().message};
  const auto text = file->read_text(kMostBytes);
  if (!text.ok()) return Error{Code::usage, text.error().message};
  ULPSCOPE_TRY(check_yaml(printable(path), *text));
  try {
    YAML::Node root = YAML::Load(*text);
    if (json && root.IsMap()) {
      if (!root["acc_check"]) return {};  // a config.json may be for other tools only
      root = root["acc_check"];
    }
    if (root.IsNull()) return {};
    if (!root.IsMap()) return wrong(path, json ? "an object with a section acc_check" : "keys with values");
    for (const auto& member : root)
      ULPSCOPE_TRY(take(member.first.as<std::string>(), member.second, path, out));
    return {};
  } catch (const YAML::Exception& problem) {
    return Error{Code::usage, path + ":" + std::to_string(problem.mark.line + 1) + ": " + problem.msg};
  }
}

}  // namespace

Result<CheckSettings> read_check_settings(const std::vector<std::string>& paths) {
  CheckSettings settings;
  const auto is_json = [](const std::string& path) { return to_lower(path).ends_with(".json"); };
  for (const bool json : {false, true})
    for (const std::string& path : paths)
      if (is_json(path) == json) ULPSCOPE_TRY(read(path, json, settings));
  return settings;
}

}  // namespace ulpscope
