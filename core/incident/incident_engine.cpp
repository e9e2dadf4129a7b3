#include "incident/incident_engine.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "config_check/bundle.hpp"
#include "guide/anchors.hpp"

namespace ulpscope {
namespace {

constexpr int64_t kMostRanks = 1'000'000;

// Which engine is chosen by the environment: guide knows these names.
constexpr const char* kChoosers[] = {"VLLM_USE_V1", "VLLM_USE_V2_MODEL_RUNNER"};

void read_launch(const LaunchCommand& launch, IncidentEngine& engine) {
  if (!launch.found) return;
  engine.is_online = std::any_of(launch.words.begin(), launch.words.end(), [](const std::string& word) {
    return word == "serve" || word.find("api_server") != std::string::npos;
  });
  for (const auto& [option, name] : {std::pair{"--tp", "tensor_parallel_size"},
                                     {"--pp", "pipeline_parallel_size"},
                                     {"--dp", "data_parallel_size"}}) {
    const ConfigValue* value = launch.options.find(name);
    const auto number = value != nullptr ? parse_int(value->text) : std::nullopt;
    if (number && *number > 1 && *number <= kMostRanks) engine.parallel.emplace_back(option, *number);
  }
}

// As the section env of config-check: the command's own assignments win, exports fill what is not there.
void read_environment(const Bundle& bundle, IncidentEngine& engine) {
  for (const char* name : kChoosers) {
    const std::optional<LaunchCommand>& launch = bundle.launch;
    for (const NamedTexts* texts :
         {launch ? &launch->inline_environment : nullptr, bundle.environment ? &*bundle.environment : nullptr,
          launch ? &launch->exported : nullptr}) {
      if (texts == nullptr || texts->count(name) == 0) continue;
      engine.environment.emplace_back(name, texts->find(name)->second);
      break;
    }
  }
}

}  // namespace

IncidentEngine read_incident_engine(const std::string& side, const std::string& bundle_folder) {
  IncidentEngine engine;
  if (bundle_folder.empty()) return engine;
  Diagnostics told_by_config_check;
  const auto files = find_bundle_files(bundle_folder, told_by_config_check);
  if (!files.ok()) return engine;
  std::error_code failed;
  const std::string facts = bundle_folder + "/bundle.json";
  const bool has_facts = std::filesystem::exists(facts, failed);
  const Bundle bundle = read_bundle(side, *files, has_facts ? facts : "", told_by_config_check);
  engine.vllm = bundle.vllm_version;
  engine.device = bundle.device;
  if (bundle.packages && bundle.packages->count("vllm-ascend") > 0)
    engine.vllm_ascend = bundle.packages->find("vllm-ascend")->second;
  const auto json = has_facts ? read_config_json(facts) : Result<ConfigValue>(ConfigValue());
  if (json.ok() && json->find("vllm_ascend") != nullptr) engine.vllm_ascend = json->find("vllm_ascend")->text;
  // An editable package has a commit in place of a version.
  for (std::string* version : {&engine.vllm, &engine.vllm_ascend})
    if (!parse_engine_version(*version)) version->clear();
  if (bundle.launch) read_launch(*bundle.launch, engine);
  read_environment(bundle, engine);
  return engine;
}

std::vector<std::string> guide_words(const IncidentEngine& engine, const std::string& token) {
  std::vector<std::string> words = {"guide", "collect"};
  const auto add = [&](const std::string& option, const std::string& value) {
    words.push_back(option);
    if (!value.empty()) words.push_back(value);
  };
  const std::string unknown = "VERSION";
  add("--vllm-version", engine.vllm.empty() ? unknown : engine.vllm);
  add("--enforce-eager", "");
  if (engine.is_online) add("--mode", "online");
  for (const auto& [option, ranks] : engine.parallel) add(option, std::to_string(ranks));
  for (const auto& [name, value] : engine.environment) {
    std::string assignment = name;
    add("--env", assignment.append("=").append(value));
  }
  if (engine.device == "npu" || engine.device == "gpu") add("--device", engine.device);
  if (engine.device == "npu")
    add("--ascend-version", engine.vllm_ascend.empty() ? unknown : engine.vllm_ascend);
  const auto version = parse_engine_version(engine.vllm);
  const auto table = AnchorTable::builtin();
  if (version && table.ok() && !table->knows(*version)) add("--allow-unknown-shape", "");
  if (!token.empty()) add("--token", token);
  return words;
}

}  // namespace ulpscope
