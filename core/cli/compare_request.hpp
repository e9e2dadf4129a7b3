// What the options of compare ask for, checked and in the types of the libraries. Used by the compare command
// only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "match/mapping.hpp"
#include "measure/measure.hpp"
#include "report/writer.hpp"

namespace ulpscope {

// From which final verdict on the program exits with 1.
enum class FailOn : uint8_t { fail, warning, never };

struct CompareRequest {
  std::string target_path, golden_path, reference_path;  // reference_path: empty for none
  std::string target_source = "auto", golden_source = "auto";
  std::string source_options;                    // JSON object, for both sources
  std::vector<std::string> source_option_names;  // those that the user gave
  std::string target_fusion, golden_fusion;      // json of the compiled model of each side; empty: looked for
  ScanFilter filter;
  Mapping mapping;
  bool has_mapping = false, fuzzy = false;
  std::string merge_backend;  // "fsdp" or "megatron": --consistent_check
  MeasureOptions measure;
  ReportRequest report;
  FailOn fail_on = FailOn::fail;
  bool strict = false;  // unmatched rows fail too
  bool replay = false;  // run the culprits again in float64
  std::string baseline_path, resume_folder, explain_glob;
  std::string noise_path;  // a second golden run
  // Whether a policy chooses the judgements, and those that are forced instead.
  bool has_policy = false;
  std::vector<std::string> forced_judgements;
  bool json_to_stdout = false;  // --format json -o -
  // The options that decide the result, as text: part of a journal's identity.
  std::string identity;
};

std::vector<OptionSpec> compare_options();

// usage: anything that does not fit together. io: a mapping file that cannot be read.
Result<CompareRequest> read_compare_request(const ParsedOptions& options, const std::string& version);

}  // namespace ulpscope
