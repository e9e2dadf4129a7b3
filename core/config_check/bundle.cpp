#include "config_check/bundle.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/text.hpp"
#include "config_check/python_print.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMostTextBytes = uint64_t{64} << 20;

// Which file of a folder is which input; the first that is there.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"env", "env.txt"},
    {"env", "env.json"},
    {"pip", "pip.txt"},
    {"pip", "pip.json"},
    {"launch", "launch.sh"},
    {"log", "server.log"},
    {"model-config", "model_config.txt"},
    {"mindie-config", "mindie_config.json"},
    {"mindie-log", "mindie-server.log"},
    {"mindie-log", "mindie-llm.log"},
    {"versions", "version.info"},
};

class BundleReader {
 public:
  BundleReader(Bundle& bundle, Diagnostics& diagnostics) : bundle_(bundle), diagnostics_(diagnostics) {}

  void read() {
    if (const auto text = read_text("env")) bundle_.environment = parse_environment(*text);
    if (bundle_.environment)
      for (const auto& [name, value] : *bundle_.environment)
        if (is_secret_variable(name)) bundle_.secrets.add(value);
    if (const auto text = read_text("pip")) bundle_.packages = parse_packages(*text);
    if (const auto text = read_text("versions")) bundle_.versions = parse_versions(*text);
    if (const auto text = read_text("launch")) read_launch(*text);
    if (const auto text = read_text("model-config")) {
      bundle_.model_config_print = parse_model_config_print(*text);
      if (bundle_.model_config_print.is_null())
        fail(bundle_.files["model-config"],
             "no ModelConfig(…) with its fields in it; before vLLM 0.9.0 the "
             "class prints as an address");
    }
    bundle_.log = read_log_file("log");
    bundle_.mindie_log = read_log_file("mindie-log");
    read_mindie();
  }

 private:
  std::optional<std::string> read_text(std::string_view word) {
    const auto path = bundle_.files.find(word);
    if (path == bundle_.files.end()) return std::nullopt;
    auto file = File::open(path->second);
    auto text = file.ok() ? file->read_text(kMostTextBytes) : Result<std::string>(std::move(file).error());
    if (text.ok()) return std::move(text).value();
    diagnostics_.add(Severity::error, text.error(), bundle_.name);
    return std::nullopt;
  }

  void fail(const std::string& where, const std::string& what) {
    diagnostics_.add({Severity::warning, Code::format, bundle_.name + ": " + where, what});
  }

  void read_launch(const std::string& text) {
    bundle_.launch = parse_launch(text, bundle_.environment ? *bundle_.environment : NamedTexts());
    if (!bundle_.launch->found)
      fail(bundle_.files["launch"],
           "no command that starts an engine, expected vllm serve, python -m "
           "vllm.entrypoints…, mindieservice_daemon, torchrun, msrun or python FILE.py");
    for (const NamedTexts* texts : {&bundle_.launch->inline_environment, &bundle_.launch->exported})
      for (const auto& [name, value] : *texts)
        if (is_secret_variable(name)) bundle_.secrets.add(value);
    for (const auto& [name, value] : leaves_of(bundle_.launch->options))
      if (value.is_text() && is_secret_option(name)) bundle_.secrets.add(value.text);
  }

  std::optional<LogFacts> read_log_file(std::string_view word) {
    const auto path = bundle_.files.find(word);
    if (path == bundle_.files.end()) return std::nullopt;
    auto facts = read_log(path->second, diagnostics_);
    if (!facts.ok()) {
      diagnostics_.add(Severity::error, facts.error(), bundle_.name);
      return std::nullopt;
    }
    for (const auto& [name, value] : leaves_of(facts->arguments))
      if (value.is_text() && is_secret_option(name)) bundle_.secrets.add(value.text);
    return std::move(facts).value();
  }

  void read_mindie() {
    const auto path = bundle_.files.find("mindie-config");
    if (path == bundle_.files.end()) return;
    auto json = read_config_json(path->second);
    if (json.ok())
      bundle_.mindie_config = std::move(json).value();
    else
      diagnostics_.add(Severity::error, json.error(), bundle_.name);
  }

  Bundle& bundle_;
  Diagnostics& diagnostics_;
};

void find_device_and_version(Bundle& bundle, const std::string& bundle_json, Diagnostics& diagnostics) {
  if (!bundle_json.empty()) {
    const auto facts = read_config_json(bundle_json);
    if (facts.ok()) {
      const ConfigValue *device = facts->find("device"), *vllm = facts->find("vllm");
      if (device != nullptr) bundle.device = device->text;
      if (vllm != nullptr) bundle.vllm_version = vllm->text;
    } else {
      diagnostics.add(Severity::error, facts.error(), bundle.name);
    }
  }
  const auto has = [](const std::optional<NamedTexts>& texts, std::string_view name) {
    return texts && texts->find(name) != texts->end();
  };
  if (bundle.device.empty()) {
    const bool npu = has(bundle.packages, "torch-npu") ||
                     has(bundle.environment, "ASCEND_RT_VISIBLE_DEVICES") ||
                     has(bundle.environment, "ASCEND_HOME_PATH");
    if (npu)
      bundle.device = "npu";
    else if (bundle.packages || bundle.environment)
      bundle.device = "gpu";
  }
  if (bundle.vllm_version.empty() && has(bundle.packages, "vllm"))
    bundle.vllm_version = bundle.packages->find("vllm")->second;
  if (bundle.vllm_version.empty() && bundle.log) bundle.vllm_version = bundle.log->version;
}

// Whether what path, which is below folder, stands for lies somewhere else.
bool leads_out(const std::string& folder, const std::string& path) {
  std::error_code failed;
  const auto root = std::filesystem::canonical(folder, failed);
  const auto place = std::filesystem::canonical(path, failed);
  if (failed) return false;  // reading it says what is wrong
  const auto differ = std::mismatch(root.begin(), root.end(), place.begin(), place.end());
  return differ.first != root.end();
}

void tell_left_out(const std::string& path, const std::string& effect, Diagnostics& diagnostics) {
  diagnostics.add({Severity::warning, Code::format, path,
                   "a symbolic link that leads out of the bundle is not followed: " + effect});
}

}  // namespace

Result<BundleFiles> find_bundle_files(const std::string& folder, Diagnostics& diagnostics) {
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed))
    return Error{Code::io, printable(folder) +
                               ": no folder, expected one with env.txt, pip.txt, launch.sh, model/ and "
                               "the like"};
  BundleFiles files;
  for (const auto& [word, name] : kNames) {
    const std::string path = folder + "/" + std::string(name);
    if (!std::filesystem::exists(path, failed)) continue;
    if (leads_out(folder, path))
      tell_left_out(path, "it is not read", diagnostics);
    else
      files.try_emplace(std::string(word), path);
  }
  const std::string model = folder + "/model";
  if (!std::filesystem::is_directory(model, failed)) return files;
  std::string out = leads_out(folder, model) ? model : "";
  (void)for_each_entry(model, [&](std::string_view name, EntryKind kind) {
    const std::string path = model + "/" + std::string(name);
    if (out.empty() && kind == EntryKind::link && leads_out(folder, path)) out = path;
    return out.empty();
  });
  if (out.empty())
    files["model"] = model;
  else
    tell_left_out(out, "model is not read; a folder of links can be named with an option of its own",
                  diagnostics);
  return files;
}

Bundle read_bundle(const std::string& name, const BundleFiles& files, const std::string& bundle_json,
                   Diagnostics& diagnostics) {
  Bundle bundle;
  bundle.name = name;
  bundle.files = files;
  BundleReader(bundle, diagnostics).read();
  find_device_and_version(bundle, bundle_json, diagnostics);
  return bundle;
}

std::optional<std::pair<int64_t, int64_t>> release_of(std::string_view version) {
  if (version.starts_with("v")) version.remove_prefix(1);
  const size_t dot = version.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view rest = version.substr(dot + 1);
  const auto major = parse_int(version.substr(0, dot));
  const auto minor = parse_int(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!major || !minor) return std::nullopt;
  return std::pair{*major, *minor};
}

}  // namespace ulpscope
