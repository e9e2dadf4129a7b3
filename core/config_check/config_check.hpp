// config-check: compares the configuration of two runs, section by section, and says which differences can
// change tokens. Used by the command; prints nothing and writes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/thread_pool.hpp"
#include "config_check/bundle.hpp"
#include "config_check/catalogue.hpp"
#include "config_check/config_value.hpp"

namespace ulpscope {

struct ConfigRow {
  std::string section, key;
  ConfigValue golden, problem;  // null: absent
  ConfigSeverity severity = ConfigSeverity::error;
  std::string why;
};

enum class WeightsMode : uint8_t { full, header, none };

struct ConfigCheckOptions {
  bool require_deterministic = false;  // an NPU that may not repeat itself is an error
  bool all_variables = false;          // also variables that no list names
  WeightsMode weights = WeightsMode::full;
};

struct ConfigCheckResult {
  std::vector<ConfigRow> rows;  // by severity, section and key
  std::array<int64_t, 3> counts = {};
  int64_t compared_sections = 0;
  bool is_complete = false;  // something was compared, and nothing was lost

  // "error", "warning", "info", or without differences "pass"; "incomplete" where that is not known.
  std::string verdict() const;
};

// What a section works with.
struct ConfigCheckRun {
  const Bundle& golden;
  const Bundle& problem;
  const Catalogue& catalogue;
  const ConfigCheckOptions& options;
  Diagnostics& diagnostics;
  ThreadPool& pool;
  const Cancel& cancel;
  // Called with what is done now ("hashing") and the bytes of weights to be read for it, then with each piece
  // that was, from any thread.
  std::function<void(const char*, uint64_t)> expect_bytes = {};
  std::function<void(uint64_t)> read_bytes = {};
  std::vector<ConfigRow> rows = {};
  int64_t compared_sections = 0;

  bool across_devices() const {
    return !golden.device.empty() && !problem.device.empty() && golden.device != problem.device;
  }
  // Adds a row unless its severity is ignored.
  void add(ConfigRow row);
  // Whether both sides have the input; a row "missing input" when only one has.
  bool both_have(const std::string& section, const std::string& input, bool in_golden, bool in_problem);
  // Rows for the leaves that differ. any_part as in Catalogue::severity.
  void compare_leaves(const std::string& section, const std::string& catalogue_section,
                      const ConfigValue& left, const ConfigValue& right, bool any_part);
};

void check_environment(ConfigCheckRun& run);
void check_packages(ConfigCheckRun& run);
void check_launch(ConfigCheckRun& run);
void check_engine(ConfigCheckRun& run);
void check_sampling(ConfigCheckRun& run);
void check_mindie(ConfigCheckRun& run);
void check_versions(ConfigCheckRun& run);
// config.json, generation_config.json and the tokenizer's files.
void check_model_files(ConfigCheckRun& run);
// Tensors by name, shard layout aside. An unreadable file is an error among the diagnostics.
void check_weights(ConfigCheckRun& run);

// All sections, rows sorted, secrets hidden.
ConfigCheckResult config_check(ConfigCheckRun run);

}  // namespace ulpscope
