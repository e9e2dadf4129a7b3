#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/text.hpp"
#include "instrument/apply.hpp"
#include "instrument/manifest.hpp"

namespace ulpscope {
namespace {

Error damaged(const EngineTree& tree, const std::string& what) {
  return {Code::format, tree.root + "/" + std::string(kManifestPath) + ": " + what};
}

std::string text_of(const nlohmann::json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

std::string original_path(const std::string& path) { return ".ulpscope/original/" + path; }

Result<std::optional<Manifest>> read_manifest(const EngineTree& tree) {
  const TreeFile file = read_tree_file(tree, std::string(kManifestPath));
  if (file.problem == TreeFileProblem::missing) return std::optional<Manifest>();
  if (file.problem != TreeFileProblem::none) return Error{Code::io, file.message};
  const auto json = nlohmann::json::parse(file.content, nullptr, false);
  if (!json.is_object()) return damaged(tree, "not JSON, expected the record of an earlier run");
  Manifest manifest;
  manifest.tool = text_of(json, "tool");
  manifest.vllm = text_of(json, "vllm");
  const auto options = json.find("options");
  if (options != json.end()) manifest.options = text_of(json, "options");
  const auto files = json.find("files");
  if (files == json.end() || !files->is_array()) return damaged(tree, "expected a list of files");
  for (const auto& entry : *files) {
    if (!entry.is_object()) return damaged(tree, "expected files as objects");
    Manifest::File found{text_of(entry, "path"), text_of(entry, "before"), text_of(entry, "after"), {}};
    if (!is_safe_relative(found.path))
      return damaged(tree, "path '" + printable(found.path) + "' leads out of the tree");
    const auto parts = entry.find("parts");
    if (parts != entry.end() && parts->is_array())
      for (const auto& part : *parts)
        if (part.is_string()) found.parts.push_back(part.get<std::string>());
    manifest.files.push_back(std::move(found));
  }
  return std::optional<Manifest>(std::move(manifest));
}

std::string manifest_json(const Manifest& manifest, const std::string& time) {
  nlohmann::ordered_json json = {{"schema", "ulpscope.instrument_manifest/1"},
                                 {"tool", manifest.tool},
                                 {"time", time},
                                 {"options", manifest.options},
                                 {"vllm", manifest.vllm},
                                 {"files", nlohmann::ordered_json::array()}};
  for (const Manifest::File& file : manifest.files)
    json["files"].push_back(
        {{"path", file.path}, {"before", file.before}, {"after", file.after}, {"parts", file.parts}});
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace ulpscope
