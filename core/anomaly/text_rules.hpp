// The rules of anomaly that look at text: garbled, white space, repetition, languages. Each appends what it
// finds. Used by the inspection of an output. Positions are code points.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "anomaly/finding.hpp"
#include "anomaly/thresholds.hpp"
#include "outputs/model_output.hpp"

namespace ulpscope {

// The text of an output as the rules see it.
struct InspectedText {
  std::u32string text;
  Finish finish = Finish::unknown;
};

// Without one U+FFFD at the very end of an output that was, or may have been, cut off: half a character.
InspectedText inspected_text(std::string_view utf8, Finish finish);

// "empty" and "whitespace_flood".
void find_white_space(const InspectedText& output, const Thresholds& limits, std::vector<SymptomHit>& hits);
void find_garbled(const InspectedText& output, const Thresholds& limits, std::vector<SymptomHit>& hits);
// By the end of the text, by lines and by n-grams.
void find_repetition(const InspectedText& output, const Thresholds& limits, std::vector<SymptomHit>& hits);
// prompt: empty where it is not known; the script of most letters is expected then.
void find_languages(const InspectedText& output, std::string_view prompt, const Thresholds& limits,
                    std::vector<SymptomHit>& hits);

// Lines with two or more '|'.
bool is_table_line(std::u32string_view line);

}  // namespace ulpscope
