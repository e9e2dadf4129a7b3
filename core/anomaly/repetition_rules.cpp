#include <algorithm>
#include <functional>
#include <unordered_map>

#include "anomaly/periodic_tail.hpp"
#include "anomaly/text_rules.hpp"
#include "outputs/code_points.hpp"

namespace ulpscope {
namespace {

// Of what lines across a page are made.
constexpr std::u32string_view kRule = U"-=*_~#.\u00b7|";

bool is_rule_character(char32_t c) { return kRule.find(c) != std::u32string_view::npos || is_white_space(c); }

SymptomHit repetition(std::string_view rule, size_t at) {
  SymptomHit hit;
  hit.label = Symptom::repetition;
  hit.rule = rule;
  hit.unit = Unit::code_point;
  hit.at = static_cast<int64_t>(at);
  return hit;
}

void find_tail(const InspectedText& output, const Thresholds& limits, std::vector<SymptomHit>& hits) {
  std::u32string_view text = output.text;
  while (!text.empty() && is_white_space(text.back())) text.remove_suffix(1);
  const bool stopped = output.finish == Finish::stop;
  const auto excused = [&](size_t period, size_t span) {
    const std::u32string_view unit = text.substr(text.size() - period);
    return static_cast<double>(span) <= limits.rule_span &&
           std::all_of(unit.begin(), unit.end(), is_rule_character);
  };
  const auto tail = periodic_tail(text, static_cast<size_t>(limits.tail_period),
                                  stopped ? limits.tail_repeats_stopped : limits.tail_repeats,
                                  stopped ? limits.tail_span_stopped : limits.tail_span, excused);
  if (!tail) return;
  const size_t whole_repeats = tail->span / tail->period;
  SymptomHit hit = repetition("tail", text.size() - tail->span);
  hit.values = {{"period", static_cast<double>(tail->period)},
                {"span", static_cast<double>(tail->span)},
                {"repeats", static_cast<double>(whole_repeats)}};
  hits.push_back(std::move(hit));
}

struct LineCount {
  int64_t count = 0;
  size_t first = 0;
};

void find_lines(const InspectedText& output, const Thresholds& limits, std::vector<SymptomHit>& hits) {
  const std::u32string_view text = output.text;
  std::unordered_map<std::u32string_view, LineCount> counts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(U'\n', begin), text.size());
    std::u32string_view line = text.substr(begin, end - begin);
    while (!line.empty() && is_white_space(line.front())) line.remove_prefix(1);
    while (!line.empty() && is_white_space(line.back())) line.remove_suffix(1);
    if (static_cast<double>(line.size()) >= limits.line_length &&
        std::any_of(line.begin(), line.end(), is_letter_or_digit)) {
      LineCount& known = counts[line];
      if (known.count++ == 0) known.first = begin;
    }
    begin = end + 1;
  }
  const LineCount* worst = nullptr;
  double worst_share = 0;
  for (const auto& [line, counted] : counts) {
    const double share = static_cast<double>(counted.count) * static_cast<double>(line.size()) /
                         static_cast<double>(text.size());
    const bool applies =
        static_cast<double>(counted.count) >= limits.line_count && share >= limits.line_share;
    if (!applies || share < worst_share) continue;
    if (share == worst_share && worst != nullptr && worst->first < counted.first) continue;
    worst = &counted;
    worst_share = share;
  }
  if (worst == nullptr) return;
  SymptomHit hit = repetition("lines", worst->first);
  hit.values = {{"count", static_cast<double>(worst->count)}, {"share", worst_share}};
  hits.push_back(std::move(hit));
}

bool is_ascii_word(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '\'';
}

// Appends the units of a line as hashes: words of ASCII letters, digits and apostrophes, else single
// characters of words.
void append_units(std::u32string_view line, std::vector<uint64_t>& units) {
  for (size_t i = 0; i < line.size();) {
    size_t end = i;
    while (end < line.size() && is_ascii_word(line[end])) ++end;
    if (end == i && is_word_character(line[i])) ++end;
    if (end > i) units.push_back(std::hash<std::u32string_view>()(line.substr(i, end - i)));
    i = std::max(end, i + 1);
  }
}

// 1 - distinct 4-grams / all 4-grams
void find_ngrams(const InspectedText& output, const Thresholds& limits, std::vector<SymptomHit>& hits) {
  constexpr size_t kLength = 4;
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15U;  // of Fibonacci hashing
  std::vector<uint64_t> units;
  std::u32string_view rest = output.text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(U'\n'), rest.size());
    if (!is_table_line(rest.substr(0, end))) append_units(rest.substr(0, end), units);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (static_cast<double>(units.size()) < limits.ngram_units || units.size() < kLength) return;
  std::vector<uint64_t> grams(units.size() - kLength + 1);
  for (size_t i = 0; i < grams.size(); ++i) {
    uint64_t hash = 0;
    for (size_t k = 0; k < kLength; ++k) {
      hash = (hash ^ units[i + k]) * kFactor;
      hash ^= hash >> 29U;
    }
    grams[i] = hash;
  }
  const auto all = static_cast<double>(grams.size());
  std::sort(grams.begin(), grams.end());
  const auto distinct = static_cast<double>(std::unique(grams.begin(), grams.end()) - grams.begin());
  const double share = 1 - distinct / all;
  if (!(share >= limits.ngram_share)) return;
  SymptomHit hit = repetition("ngrams", 0);
  hit.values = {{"units", static_cast<double>(units.size())}, {"repeated_share", share}};
  hits.push_back(std::move(hit));
}

}  // namespace

void find_repetition(const InspectedText& output, const Thresholds& limits, std::vector<SymptomHit>& hits) {
  find_tail(output, limits, hits);
  find_lines(output, limits, hits);
  find_ngrams(output, limits, hits);
}

}  // namespace ulpscope
