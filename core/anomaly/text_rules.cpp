#include "anomaly/text_rules.hpp"

#include <algorithm>
#include <array>

#include "outputs/code_points.hpp"

namespace ulpscope {
namespace {

constexpr char32_t kReplacement = 0xfffd;

// The printable characters that code page 1252 has between U+0080 and U+009F.
constexpr std::u32string_view kCodePageExtras =
    U"\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d\u2018\u2019\u201c\u201d"
    U"\u2022"
    U"\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178";

bool is_trail(char32_t c) {
  return (c >= 0x80 && c <= 0xbf) || kCodePageExtras.find(c) != std::u32string_view::npos;
}

// The length of the UTF-8 sequence read as code page 1252 that begins at i; 0 where none does.
//   U+00C2, U+00C3             one of T
//   U+00E2                     U+0080-U+009F, U+20AC or U+201A; one of T
//   U+00E3-U+00EF              two of T
size_t mojibake_at(std::u32string_view text, size_t i) {
  const char32_t c = text[i];
  const auto trail = [&](size_t k) { return k < text.size() && is_trail(text[k]); };
  if (c == 0xc2 || c == 0xc3) return trail(i + 1) ? 2 : 0;
  if (c == 0xe2) {
    if (i + 1 >= text.size()) return 0;
    const char32_t second = text[i + 1];
    const bool fits = (second >= 0x80 && second <= 0x9f) || second == 0x20ac || second == 0x201a;
    return fits && trail(i + 2) ? 3 : 0;
  }
  if (c >= 0xe3 && c <= 0xef) return trail(i + 1) && trail(i + 2) ? 3 : 0;
  return 0;
}

bool is_hex(char32_t c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The length of a spelled unknown token at i; 0 where there is none.
size_t unknown_at(std::u32string_view text, size_t i) {
  constexpr std::array<std::u32string_view, 3> kWords = {U"<unk>", U"[UNK]", U"<|unk|>"};
  for (const std::u32string_view word : kWords)
    if (text.substr(i, word.size()) == word) return word.size();
  const bool is_byte = text.substr(i, 3) == U"<0x" && i + 5 < text.size() && is_hex(text[i + 3]) &&
                       is_hex(text[i + 4]) && text[i + 5] == '>';
  return is_byte ? 6 : 0;
}

struct Counted {
  int64_t count = 0;
  int64_t first = 0;
  void add(size_t at) {
    if (count++ == 0) first = static_cast<int64_t>(at);
  }
};

SymptomHit hit_of(Symptom label, std::string_view rule, int64_t at) {
  SymptomHit hit;
  hit.label = label;
  hit.rule = rule;
  hit.unit = Unit::code_point;
  hit.at = at;
  return hit;
}

// Lines without the line feed that ends them.
std::vector<std::u32string_view> lines_of(std::u32string_view text) {
  std::vector<std::u32string_view> lines;
  while (true) {
    const size_t end = text.find(U'\n');
    lines.push_back(text.substr(0, end));
    if (end == std::u32string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

// Without tables and without the white space at the beginning of lines.
std::u32string without_layout(std::u32string_view text) {
  std::u32string kept;
  bool first = true;
  for (std::u32string_view line : lines_of(text)) {
    if (is_table_line(line)) continue;
    if (!first) kept += U'\n';
    first = false;
    while (!line.empty() && is_white_space(line.front())) line.remove_prefix(1);
    kept += line;
  }
  return kept;
}

// The longest run of elements that is says yes to.
template <class Is>
int64_t longest_run(std::u32string_view text, Is&& is) {
  int64_t longest = 0, run = 0;
  for (const char32_t c : text) {
    run = is(c) ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

bool is_table_line(std::u32string_view line) { return std::count(line.begin(), line.end(), U'|') >= 2; }

InspectedText inspected_text(std::string_view utf8, Finish finish) {
  InspectedText inspected{code_points(utf8), finish};
  std::u32string& text = inspected.text;
  const size_t size = text.size();
  const bool half = size > 0 && text.back() == kReplacement && (size == 1 || text[size - 2] != kReplacement);
  if (half && finish != Finish::stop) text.pop_back();
  return inspected;
}

void find_white_space(const InspectedText& output, const Thresholds& limits, std::vector<SymptomHit>& hits) {
  const std::u32string& text = output.text;
  const auto size = static_cast<double>(text.size());
  if (std::all_of(text.begin(), text.end(), is_white_space)) {
    const bool flood = size >= limits.empty_length;
    SymptomHit hit = hit_of(flood ? Symptom::whitespace_flood : Symptom::empty, "only_white_space", 0);
    hit.values = {{"length", size}};
    hits.push_back(std::move(hit));
    return;
  }
  if (size < limits.whitespace_length) return;
  const std::u32string kept = without_layout(text);
  if (static_cast<double>(kept.size()) < limits.whitespace_length) return;
  const auto white = std::count_if(kept.begin(), kept.end(), is_white_space);
  const double share = static_cast<double>(white) / static_cast<double>(kept.size());
  const auto blanks = static_cast<double>(
      longest_run(kept, [](char32_t c) { return c != U'\n' && c != U'\r' && is_white_space(c); }));
  const auto feeds = static_cast<double>(longest_run(kept, [](char32_t c) { return c == U'\n'; }));
  if (share < limits.whitespace_share && blanks < limits.whitespace_run && feeds < limits.whitespace_run)
    return;
  const auto first = std::find_if(text.begin(), text.end(), is_white_space) - text.begin();
  SymptomHit hit = hit_of(Symptom::whitespace_flood, "white_space", first);
  hit.values = {{"share", share}, {"longest_blanks", blanks}, {"longest_line_feeds", feeds}};
  hits.push_back(std::move(hit));
}

void find_garbled(const InspectedText& output, const Thresholds& limits, std::vector<SymptomHit>& hits) {
  const std::u32string_view text = output.text;
  const auto size = static_cast<double>(text.size());
  Counted replaced, unknown, mojibake, control;
  size_t unknown_end = 0, mojibake_end = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c == kReplacement) replaced.add(i);
    if (c != '\n' && c != '\r' && c != '\t' && is_control_or_unassigned(c)) control.add(i);
    if (i >= unknown_end && (c == '<' || c == '['))
      if (const size_t length = unknown_at(text, i); length > 0) {
        unknown.add(i);
        unknown_end = i + length;
      }
    if (i >= mojibake_end && c >= 0xc2 && c <= 0xef)
      if (const size_t length = mojibake_at(text, i); length > 0) {
        mojibake.add(i);
        mojibake_end = i + length;
      }
  }
  const auto tell = [&](std::string_view rule, const Counted& counted) {
    SymptomHit hit = hit_of(Symptom::garbled, rule, counted.first);
    hit.values = {{"count", static_cast<double>(counted.count)},
                  {"share", static_cast<double>(counted.count) / size}};
    hits.push_back(std::move(hit));
  };
  const auto share_of = [&](const Counted& counted) { return static_cast<double>(counted.count) / size; };
  const auto reaches = [](const Counted& counted, double count) {
    return static_cast<double>(counted.count) >= count;
  };
  if (reaches(replaced, limits.garbled_replacement_count) ||
      (replaced.count >= 1 && share_of(replaced) >= limits.garbled_replacement_share))
    tell("replacement", replaced);
  if (reaches(unknown, limits.garbled_unknown_count)) tell("unknown_token", unknown);
  if (reaches(mojibake, limits.garbled_mojibake_count)) tell("mojibake", mojibake);
  if (reaches(control, limits.garbled_control_count) && share_of(control) >= limits.garbled_control_share)
    tell("control", control);
}

}  // namespace ulpscope
