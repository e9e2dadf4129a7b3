// Judges the outputs of a device by the numbers of two tables: those of the device and those of a reference
// device, both measured against a golden. The judgement of each output is the one that the policy names; rows
// roll up to one status for the forward and one for the backward of each API. Pure but for the plugins.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "policy/chooser.hpp"
#include "precision_compare/details_table.hpp"

namespace ulpscope {

// The words of the files.
enum class OutputStatus : uint8_t { none, skip, pass, warning, error };
std::string_view to_text(OutputStatus status);  // " ", "SKIP", "pass", "warning", "error"

// One output, judged.
struct OutputResult {
  std::string name, algorithm;  // algorithm: name of the judgement; empty when none was asked
  OutputStatus status = OutputStatus::skip;
  std::string message;    // as the tables have it, with the peer's texts
  std::string reason;     // the same in English alone; empty where message has no text of the peer
  bool bad_data = false;  // what should have been there is missing or unreadable: exit code 3
  // The metrics that the judgement looked at: value of the device, of the reference, their ratio, its status.
  struct Number {
    DetailMetric metric;
    std::optional<double> device, reference, ratio;
    OutputStatus status = OutputStatus::none;
  };
  std::vector<Number> numbers;
  const Number* number(DetailMetric metric) const;
};

struct ApiResult {
  std::string api;  // id: "Torch.matmul.0", or the text that is no name of an output
  OutputStatus forward = OutputStatus::none, backward = OutputStatus::none;
  std::string message;
  std::vector<int64_t> outputs;  // rows of PrecisionResult::outputs
};

struct PrecisionResult {
  std::vector<OutputResult> outputs;  // in the order of the device's table
  std::vector<ApiResult> apis;        // in order of first appearance
  std::vector<std::string> notices;   // duplicates, rows of one side alone, ragged rows
  int64_t passed = 0, warned = 0, failed = 0, skipped = 0, bad_data = 0;  // APIs; bad_data: outputs
};

// usage: a judgement refuses its options.
Result<PrecisionResult> precision_compare(const DetailsTable& device, const DetailsTable& reference,
                                          JudgementChooser& chooser);

}  // namespace ulpscope
