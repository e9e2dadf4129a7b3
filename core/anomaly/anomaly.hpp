// The work of anomaly: every output of some files inspected, repeats of a prompt compared with each other,
// and lengths compared with golden's. Prints nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anomaly/inspect.hpp"
#include "first_token/first_token.hpp"

namespace ulpscope {

struct AnomalyOptions {
  std::vector<std::string> files, golden;  // golden: empty where there is none
  std::optional<OutputFormat> format;
  InspectionOptions inspection;
  bool repeats = false;
};

struct InspectedOutput {
  std::string id;  // its own, the engine's, or its place from 0
  int64_t choice = 0;
  OutputFindings findings;
};

// The outputs of one prompt.
struct PromptRepeats {
  std::string prompt;
  int64_t runs = 0, distinct = 0;
  bool greedy = true;
  std::optional<int64_t> first_divergence;  // of tokens; of code points where there are none
  bool is_inconsistent() const { return distinct > 1 && greedy; }
};

struct AnomalyReport {
  std::vector<InspectedOutput> outputs;
  bool has_repeats = false;
  std::vector<PromptRepeats> repeats;  // by prompt, in the order of their first output
  std::array<int64_t, kSymptoms> counts{};

  int64_t anomalous() const;
};

// io: a file is missing or unreadable, or holds no output.
Result<AnomalyReport> find_anomalies(const AnomalyOptions& options, const WorkTools& tools);

}  // namespace ulpscope
