// What anomaly finds in an output: labels, the rules behind them, and what to look at first. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ulpscope {

// In the order in which they are printed.
enum class Symptom : uint8_t {
  bad_logprob,
  empty,
  garbled,
  whitespace_flood,
  repetition,
  language_mix,
  language_switch,
  early_stop,
  truncated,
  low_confidence,
  inconsistent,
};
inline constexpr size_t kSymptoms = 11;
std::string_view to_text(Symptom symptom);

enum class Unit : uint8_t { output, code_point, token };

// One rule that applied.
struct SymptomHit {
  Symptom label = Symptom::empty;
  std::string_view rule;  // "tail", "replacement", …
  Unit unit = Unit::output;
  int64_t at = 0;  // of unit, counted from 0
  std::vector<std::pair<std::string_view, double>> values;
};

struct OutputFindings {
  std::vector<SymptomHit> hits;  // in the order of their labels

  bool has(Symptom symptom) const;
  // Sorted by name, each once. Info says nothing is wrong by itself.
  std::vector<std::string_view> labels() const;
  std::vector<std::string_view> info() const;
  // Whether there is more than "truncated" and info.
  bool is_anomalous() const;
};

bool is_info(Symptom symptom);

// What to look at first for a symptom: typical cause and first check. Empty where there is no typical one.
std::vector<std::string_view> first_checks(Symptom symptom);

}  // namespace ulpscope
