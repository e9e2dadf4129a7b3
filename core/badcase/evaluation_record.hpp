// One sample of an evaluation: its key, whether the answer was right, and the output. Used by the reader of
// evaluation results. Knows the members that evaluation tools write, not files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json_tape.hpp"
#include "outputs/csv_outputs.hpp"
#include "outputs/model_output.hpp"

namespace ulpscope {

struct EvaluatedSample {
  std::string key;            // empty: the record has none
  std::string filter;         // of lm-eval; tells several judgements of one sample apart
  std::optional<bool> right;  // nothing: not judged, or with a word that is not understood
  std::string unclear;        // that word
  ModelOutput output;
};

// "Correct", "true", "1", "passed" and their kin, any case; nothing for anything else.
std::optional<bool> verdict_of(std::string_view word);

// A sample in an object: results and predictions of OpenCompass and AISBench, sample lines of lm-eval, lines
// with id or key and correct, passed or pass. judges: a prediction without a verdict is right when it equals
// gold after trimming. Any thread.
EvaluatedSample json_sample(const JsonTape& tape, uint32_t node, bool judges);

// A sample in a row: key (else queries), pass or passed. Any thread.
EvaluatedSample csv_sample(const CsvColumns& columns, const std::vector<std::string>& row);

}  // namespace ulpscope
