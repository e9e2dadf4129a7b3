#include "anomaly/finding.hpp"

#include <algorithm>
#include <array>

namespace ulpscope {
namespace {

constexpr std::array<std::string_view, kSymptoms> kNames = {
    "bad_logprob",     "empty",      "garbled",   "whitespace_flood", "repetition",  "language_mix",
    "language_switch", "early_stop", "truncated", "low_confidence",   "inconsistent"};

constexpr std::string_view kWeights =
    "wrong or damaged weights (embedding, linear, layer norm, lm_head): ulpscope config-check, section "
    "weights";
constexpr std::string_view kModelCode =
    "wrong code of the model: dump the prefill at level L0 or mix, look at the first layer that differs";
constexpr std::string_view kConfiguration =
    "padding side, pad, eos and bos ids, maximum length, rope settings: ulpscope config-check, model, "
    "generation "
    "and tokenizer files";
constexpr std::string_view kMask = "wrong attention mask: dump the attention inputs";
constexpr std::string_view kRotary = "wrong rotary factors: dump the rotary inputs of layer 0";
constexpr std::string_view kSampling =
    "post-processing (sampling) operator: run again with temperature 0 and compare";
constexpr std::string_view kMemory =
    "memory overwritten by another operator, registers not reset: ulpscope first-token-diff --runs, then "
    "launch "
    "blocking";
constexpr std::string_view kOverflow = "NaN or infinity in the model: dump this step, ulpscope overflow";

std::vector<std::string_view> names_of(const std::vector<SymptomHit>& hits, bool info) {
  std::vector<std::string_view> names;
  for (const SymptomHit& hit : hits)
    if (is_info(hit.label) == info) names.push_back(to_text(hit.label));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::string_view to_text(Symptom symptom) { return kNames[static_cast<size_t>(symptom)]; }

bool is_info(Symptom symptom) { return symptom == Symptom::low_confidence; }

bool OutputFindings::has(Symptom symptom) const {
  return std::any_of(hits.begin(), hits.end(), [&](const SymptomHit& hit) { return hit.label == symptom; });
}

std::vector<std::string_view> OutputFindings::labels() const { return names_of(hits, false); }
std::vector<std::string_view> OutputFindings::info() const { return names_of(hits, true); }

bool OutputFindings::is_anomalous() const {
  return std::any_of(hits.begin(), hits.end(), [](const SymptomHit& hit) {
    return hit.label != Symptom::truncated && !is_info(hit.label);
  });
}

std::vector<std::string_view> first_checks(Symptom symptom) {
  switch (symptom) {
    case Symptom::bad_logprob:
      return {kOverflow};
    case Symptom::empty:
      return {kModelCode, kConfiguration};
    case Symptom::garbled:
      return {kWeights, kModelCode};
    case Symptom::whitespace_flood:
      return {kMask};
    case Symptom::repetition:
      return {kSampling, kConfiguration};
    case Symptom::language_mix:
    case Symptom::language_switch:
      return {kRotary, kWeights};
    case Symptom::early_stop:
      return {kConfiguration};
    case Symptom::inconsistent:
      return {kMemory};
    case Symptom::low_confidence:
    case Symptom::truncated:
      break;
  }
  return {};
}

}  // namespace ulpscope
