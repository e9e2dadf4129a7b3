// The staged localisation of a wrong result of an offline model: high precision, keeping operators one by
// one, data cache off, fusion off, data and configuration, golden. Runs as far as the given stages allow,
// then ends or says which build is needed next. Used by the command locate; prints nothing and asks nobody
// itself.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "flow/stage_compare.hpp"
#include "flow/stage_file.hpp"

namespace ulpscope {

struct FirstDifference {
  std::string op, op_type;
  int32_t output = 0;
  std::optional<double> cosine;
  std::vector<std::string> original_ops;
  InputState inputs = InputState::unknown;
};

struct DifferingOp {
  std::string op, op_type;
  std::vector<std::string> original_ops;
  std::optional<double> cosine;
  InputState inputs = InputState::unknown;
};

struct FlowStep {
  std::string step, stage, next;
  std::optional<double> final_cosine;
  std::optional<bool> met;
  std::string met_by;  // "user" or "computed"
  int64_t round = 0;   // 0: none
  std::string mine, reference;
  bool compares = false;
  std::optional<FirstDifference> first;
  std::vector<DifferingOp> below_limit;
  std::vector<std::string> keep_list;  // after the step
  std::vector<ComparedInput> inputs;   // of the check of data
  std::vector<std::string> notes;
};

// What is needed to go on.
struct FlowRequest {
  std::string stage, question;
  std::vector<std::string> options, removed_options;  // of the converter
  std::vector<std::string> files;                     // written for it: names in the output folder
  std::vector<std::string> keep;
  std::string model;
};

struct FlowResult {
  std::vector<FlowStep> steps;
  std::string outcome;  // cli: met, cured_by_keep, asked, ...
  std::vector<std::string> keep_list;
  std::optional<FlowRequest> ask;
  std::vector<std::string> notes;
};

// What the flow needs of its host.
struct FlowHost {
  // Opens a dump with the json of its model (empty: looked for). Errors name the place.
  std::function<Result<DumpIndex>(const std::string& path, const std::string& source,
                                  const std::string& fusion)>
      open;
  // Asks a yes-or-no question; nothing: there is nobody to ask.
  std::function<std::optional<bool>(const std::string& question)> ask;
  ThreadPool* pool = nullptr;
  const Cancel* cancel = nullptr;
  Diagnostics* diagnostics = nullptr;
};

// io, format: a stage cannot be read, or was not run with the same input data as origin.
Result<FlowResult> run_flow(const StageFile& file, const FlowHost& host);

}  // namespace ulpscope
