// The stage file of the staged localisation: which builds of a model were run, where their dumps are, and
// what the user answered. It is the whole state of a flow: a user adds a stage and runs again. Used by the
// flow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

struct Stage {
  std::string name;          // origin, high_precision, keep_1, ..., cache_off, fusion_off, data_checked
  std::string dump, fusion;  // paths, made absolute or relative to the working folder; fusion may be empty
  std::optional<bool> met;   // whether its final result reaches the required accuracy, if the user says so
  std::string options;       // of origin: the precision options of the user's own converter line
  std::vector<std::string> keep;  // of a keep stage: the operators kept in high precision
};

struct StageFile {
  std::string source = "acl_om";
  std::string golden;            // folder of golden tensors; empty: none
  double op_limit = 0.95;        // cosine below which an operator differs (documented example)
  double accuracy_limit = 0.99;  // cosine that the final tensors must reach
  int64_t batch = 1, max_rounds = 50;
  std::optional<bool> keep_performance;
  std::optional<bool> data_right;  // answer to the check of data and configuration
  std::vector<Stage> stages;

  const Stage* find(std::string_view name) const;
};

// YAML or JSON, a map or a bare list of stages; paths in it are relative to its folder. io; usage: not a
// stage file, an unknown member, a value of the wrong kind or a stage without a name, with the line.
Result<StageFile> read_stage_file(const std::string& path);

}  // namespace ulpscope
