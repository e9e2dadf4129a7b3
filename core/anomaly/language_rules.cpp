#include <algorithm>
#include <map>

#include "anomaly/scripts.hpp"
#include "anomaly/text_rules.hpp"
#include "outputs/code_points.hpp"

namespace ulpscope {
namespace {

// Letters of one script that is not expected, in runs: one other character between two of them does not end
// a run.
struct Foreign {
  int64_t letters = 0;     // all
  int64_t in_runs = 0;     // of runs that are long enough
  int64_t first_run = -1;  // where the first of those begins
  size_t last = 0, run_begin = 0;
  int64_t run = 0;

  void end_run(double least) {
    if (static_cast<double>(run) >= least) {
      in_runs += run;
      if (first_run < 0) first_run = static_cast<int64_t>(run_begin);
    }
    run = 0;
  }
  void add(size_t at, double least) {
    if (run > 0 && at - last > 2) end_run(least);
    if (run++ == 0) run_begin = at;
    last = at;
    ++letters;
  }
};

// Without a prompt the script of most letters is taken for the one asked for.
std::set<Script> expected_scripts(std::u32string_view text, std::string_view prompt) {
  std::set<Script> expected;
  if (!prompt.empty()) {
    expected = scripts_of(code_points(prompt));
  } else {
    std::map<Script, int64_t> counts;
    for (const char32_t c : text)
      if (const Script script = script_of(c); script != kNoScript) ++counts[script];
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != counts.end()) expected.insert(most->first);
    if (expected.count(kKana) > 0) expected.insert(kHan);
    // Japanese has more Han than kana at times.
    if (expected.count(kHan) > 0 && counts.count(kKana) > 0) expected.insert(kKana);
  }
  expected.insert(kLatin);
  return expected;
}

}  // namespace

void find_languages(const InspectedText& output, std::string_view prompt, const Thresholds& limits,
                    std::vector<SymptomHit>& hits) {
  if (asks_for_language(prompt)) return;
  const std::set<Script> expected = expected_scripts(output.text, prompt);
  std::map<Script, Foreign> foreign;
  int64_t letters = 0;
  for (size_t i = 0; i < output.text.size(); ++i) {
    const Script script = script_of(output.text[i]);
    if (script == kNoScript) continue;
    ++letters;
    if (expected.count(script) == 0) foreign[script].add(i, limits.mix_run);
  }
  int64_t in_runs = 0, first = -1, most = 0;
  for (auto& [script, found] : foreign) {
    found.end_run(limits.mix_run);
    in_runs += found.in_runs;
    most = std::max(most, found.letters);
    if (found.first_run >= 0 && (first < 0 || found.first_run < first)) first = found.first_run;
  }
  if (in_runs == 0 || static_cast<double>(in_runs) < limits.mix_letters) return;
  const double share = static_cast<double>(most) / static_cast<double>(letters);
  const bool is_switch = share >= limits.switch_share;
  SymptomHit hit;
  hit.label = is_switch ? Symptom::language_switch : Symptom::language_mix;
  hit.rule = "scripts";
  hit.unit = Unit::code_point;
  hit.at = std::max<int64_t>(first, 0);
  hit.values = {{"letters", static_cast<double>(in_runs)}, {"share", share}};
  hits.push_back(std::move(hit));
}

}  // namespace ulpscope
