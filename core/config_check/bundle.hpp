// One side of config-check: the files that describe a run, found in a folder or named one by one, and read.
// What cannot be read is a diagnostic, and the rest goes on. Used by the sections.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "config_check/launch_script.hpp"
#include "config_check/log_facts.hpp"
#include "config_check/secrets.hpp"
#include "config_check/text_inputs.hpp"

namespace ulpscope {

// The inputs of a side by their words, which are also those of the options (--golden-env): env, pip, launch,
// log, model-config, model (a folder), mindie-config, mindie-log, versions.
using BundleFiles = std::map<std::string, std::string, std::less<>>;

struct Bundle {
  std::string name;  // "golden" or "problem", for messages
  BundleFiles files;
  std::optional<NamedTexts> environment, packages, versions;
  std::optional<LaunchCommand> launch;
  std::optional<LogFacts> log, mindie_log;
  ConfigValue model_config_print, mindie_config;  // null: not there
  std::string device;                             // gpu, npu; empty: not known
  std::string vllm_version;                       // empty: not known
  SecretValues secrets;
};

// The files of a folder by the names of a bundle. io: no folder.
// What a symbolic link leads out of the folder to is left out, and told in diagnostics.
Result<BundleFiles> find_bundle_files(const std::string& folder, Diagnostics& diagnostics);

// Reads everything but the model folder. bundle_json: path of bundle.json, empty for none.
Bundle read_bundle(const std::string& name, const BundleFiles& files, const std::string& bundle_json,
                   Diagnostics& diagnostics);

// The first two numbers of "0.9.0.1+empty"; nothing when it does not begin so.
std::optional<std::pair<int64_t, int64_t>> release_of(std::string_view version);

}  // namespace ulpscope
