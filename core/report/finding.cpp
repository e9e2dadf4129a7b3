#include "report/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "measure/padding.hpp"
#include "report/row_error.hpp"

namespace ulpscope {
namespace {

// Names of evidence that says where in the tensor the error is, one for each dimension.
constexpr std::string_view kPlacePrefix = "place_";
// Which values the indexes of a culprit stand for.
constexpr std::string_view kChoice = "choice";
// In a message that counts the elements, too.
constexpr std::string_view kExactTypeDiffers = "of an exact type differ";

constexpr size_t kMaxEvidence = 6, kMaxLoneNames = 3, kMaxFiles = 5;

std::optional<double> metric(const ReportHead& head, const RowView& row, std::string_view name) {
  const auto found = std::find(head.metric_names.begin(), head.metric_names.end(), name);
  const auto at = static_cast<size_t>(found - head.metric_names.begin());
  return at < row.metrics.size() ? row.metrics[at] : std::nullopt;
}

// A share for a person: "100 %" and "0 %" only where they are exact.
std::string percent_text(double part, double whole) {
  if (part == whole) return "100 %";
  const double percent = 100 * part / whole;
  if (percent >= 99.5) return "over 99 %";
  return percent < 1 ? fmt::format("{:.2g} %", percent) : fmt::format("{:.0f} %", percent);
}

// Near 1 the distance from 1 is what counts.
std::string cosine_text(double cosine) {
  const std::string text = fmt::format("{:.6f}", cosine);
  constexpr double kOfSums = 1e-12;  // of the sums that it is made of, not of the tensors
  if (text != "1.000000" || std::fabs(1 - cosine) < kOfSums) return text == "1.000000" ? "1" : text;
  return fmt::format("1 - {:.1e}", 1 - cosine);
}

std::string value_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : number_text(value);
}

// Two numbers that differ, with the digits that show it.
std::string against_text(double target, double golden) {
  if (!std::isfinite(target) || !std::isfinite(golden))
    return fmt::format("{} against {}", value_text(target), value_text(golden));
  for (const int digits : {4, 7, 17}) {
    const std::string a = fmt::format("{:.{}g}", target, digits), b = fmt::format("{:.{}g}", golden, digits);
    if (a != b || digits == 17) return fmt::format("{} against {}", a, b);
  }
  return "";
}

std::string index_text(const std::vector<int64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ","));
}

// Rows [first, end) of the op pair that row belongs to.
struct RowRange {
  int64_t first = 0, end = 0;
};
RowRange op_pair_rows(const ReportView& report, int64_t row) {
  const int64_t op_pair = report.outline(row).op_pair;
  const auto same = [&](int64_t at) { return report.outline(at).op_pair == op_pair; };
  RowRange range{row, row + 1};
  while (range.first > 0 && same(range.first - 1)) --range.first;
  while (range.end < report.row_count() && same(range.end)) ++range.end;
  return range;
}

std::string op_name(const ReportView& report, int64_t row) {
  RowView view;
  view.wants_metrics = false;
  report.read_row(row, view);
  return std::string(view.named().op);
}

bool is_input(const RowView& row) {
  const std::string_view item = row.named().item;
  return item.substr(0, 5) == "input" || item.substr(0, 9) == "parameter";
}

// How the inputs of an op compare: equal in every number there is, or "agree" (all pass), or nothing to say.
std::string input_sentence(const ReportView& report, int64_t row) {
  const RowRange range = op_pair_rows(report, row);
  RowView view;
  int64_t inputs = 0, identical = 0, equal = 0, passed = 0;
  std::string mode;
  for (int64_t i = range.first; i < range.end; ++i) {
    report.read_row(i, view);
    if (!is_input(view) || !view.named().is_tensor) continue;
    ++inputs;
    passed += view.verdict == Verdict::pass;
    const auto zero = [&](std::string_view name) {
      return metric(report.head(), view, name).value_or(1) == 0;
    };
    const bool same_data = view.mode == "data" && zero("unequal") && zero("nonfinite_mismatch");
    const bool same_statistics = view.mode == "statistics" && zero("max_diff") && zero("min_diff") &&
                                 zero("mean_diff") && zero("l2norm_diff");
    identical += view.bit_identical;
    equal += view.bit_identical || (view.target.dtype == view.golden.dtype && (same_data || same_statistics));
    if (mode.empty()) mode = view.mode;
  }
  if (inputs == 0) return "";
  if (identical == inputs)
    return mode == "digest" ? "inputs have equal checksums" : "inputs are bit-identical";
  if (equal == inputs)
    return mode == "data" ? "inputs are equal in every element"
                          : "inputs have equal statistics (no proof that they are equal)";
  return passed == inputs ? "inputs agree" : "";
}

// Of whole numbers, which are indexes or flags, neither direction nor factor means anything.
bool is_exact_type(std::string_view dtype) {
  return dtype.starts_with("int") || dtype.starts_with("uint") || dtype.starts_with("bool");
}

bool says(std::string_view message, std::string_view words) {
  return message.find(words) != std::string_view::npos;
}

// told: the message of the row where a sentence beside this one says it.
std::string data_sentence(const ReportHead& head, const RowView& row,
                          const std::vector<PlacedElement>& worst_elements, std::string_view told) {
  std::string text;
  const auto error = metric(head, row, "max_abs_err");
  const bool mismatch = !worst_elements.empty() &&
                        !std::isfinite(worst_elements.front().target - worst_elements.front().golden);
  if (error && !mismatch && !says(told, kExactTypeDiffers)) text = fmt::format("max_abs_err {:.1e}", *error);
  if (!worst_elements.empty()) {
    const PlacedElement& worst = worst_elements.front();
    text += fmt::format("{} at {}: target {}, golden {}", text.empty() ? "worst" : "",
                        index_text(worst.index), value_text(worst.target), value_text(worst.golden));
  }
  const auto cosine = metric(head, row, "cosine");
  if (cosine && !says(told, "cosine is ") && !is_exact_type(row.named().dtype))
    text += (text.empty() ? "cosine " : "; cosine ") + cosine_text(*cosine);
  return text;
}

std::string statistics_sentence(const ReportHead& head, const RowView& row) {
  std::string text;
  for (const std::string_view name : {"max", "min", "mean", "l2norm"}) {
    const std::string word(name);
    const auto target = metric(head, row, "target_" + word), golden = metric(head, row, "golden_" + word);
    const bool is_told =
        says(row.message, " of " + word + " (target") || says(row.message, word + ": target ");
    if (!target || !golden || *target == *golden || is_told) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word, against_text(*target, *golden));
  }
  return text;
}

// How the tensor of the culprit differs.
std::string difference_sentence(const ReportHead& head, const RowView& row) {
  const auto elements = metric(head, row, "elements"), unequal = metric(head, row, "unequal");
  const std::string thing = is_input(row) ? "it" : "output";
  if (!elements || !unequal || *elements <= 0) return "";
  const double different = std::max(*unequal, metric(head, row, "nonfinite_mismatch").value_or(0));
  if (*elements == 1) return thing + " differs in its only element";
  return fmt::format("{} differs in {} of {} elements", thing, percent_text(different, *elements),
                     count_text(static_cast<int64_t>(*elements)));
}

// "llm_model.py:114 in forward" from a line "File /x/llm_model.py, line 114, in forward, \n code"; empty for
// others.
std::string frame_text(std::string_view frame) {
  constexpr std::string_view kFile = "File ", kLine = ", line ", kIn = ", in ";
  const size_t line = frame.find(kLine);
  if (frame.substr(0, kFile.size()) != kFile || line == std::string_view::npos) return "";
  std::string_view path = frame.substr(kFile.size(), line - kFile.size());
  path.remove_prefix(path.rfind('/') + 1);
  const std::string_view rest = frame.substr(line + kLine.size());
  const size_t in = rest.find(kIn);
  std::string text =
      std::string(path) + ":" + std::string(rest.substr(0, std::min(in, rest.find_first_of(", \n"))));
  if (in == std::string_view::npos) return text;
  const std::string_view function = rest.substr(in + kIn.size());
  return text + " in " + std::string(function.substr(0, function.find_first_of(", \n")));
}

// Frames that only pass a call on: the hooks and wrappers of torch.
bool is_wrapper(std::string_view frame) {
  return frame.find("call_impl") != std::string_view::npos ||
         frame.find("/site-packages/torch/") != std::string_view::npos;
}

std::string evidence_of(const Culprit& culprit, std::string_view wanted) {
  for (const auto& [name, value] : culprit.evidence)
    if (name == wanted) return value;
  return "";
}

// The rows or columns that the error lies in.
std::string place_sentence(const Culprit& culprit) {
  std::string text;
  for (const auto& [name, value] : culprit.evidence)
    if (name.starts_with(kPlacePrefix))
      text += (text.empty() ? "nearly all of the error is at " : ", and at ") + value;
  return text;
}

bool is_of_size(std::string_view name) {
  return name == "rel_l2" || name == "factor" || name == "input_error" || name == "output_error";
}

// As far as a sentence shows them.
bool is_same_number(std::string_view a, std::string_view b) {
  const auto x = parse_double(a), y = parse_double(b);
  return x && y && value_text(*x) == value_text(*y);
}

// Evidence that other sentences say already; message: of the culprit's row.
bool is_said(const Culprit& culprit, std::string_view name, std::string_view message) {
  if (name == "damaged") return says(message, "CRC-32");
  if (name == "argument") return says(message, "value of the argument");
  if (name == "nonfinite_mismatch" || name == "first_mismatch")
    return says(message, "infinity does not agree");
  // Of one output, they are the same number.
  if (name == "output_error")
    return is_same_number(evidence_of(culprit, "rel_l2"), evidence_of(culprit, name));
  return name.starts_with(kPlacePrefix) || name.starts_with(kReplayEvidence) || name == "reason" ||
         name == kChoice || name == "differing" || name == "max_abs_err" || name == "cosine" ||
         name == "max" || name == "min" || name == "mean" || name == "l2norm";
}

// What the sentences before this one said of the culprit's row; none where the report lacks the row.
struct ToldRow {
  std::string message;
  bool exact_type = false;
};
std::string evidence_sentence(const Culprit& culprit, const std::optional<ToldRow>& row) {
  std::string text;
  size_t count = 0;
  for (const auto& [name, value] : culprit.evidence) {
    if (row && (is_said(culprit, name, row->message) || (row->exact_type && is_of_size(name)))) continue;
    if (count++ == kMaxEvidence) break;
    const auto number = parse_double(value);
    const std::string shown = number && name == "cosine" ? cosine_text(*number)
                              : number                   ? value_text(*number)
                                                         : value;
    text += fmt::format("{}{} {}", text.empty() ? "evidence: " : ", ", name, shown);
  }
  return text;
}

std::string equal_sentence(const ReportView& report) {
  int64_t statistics = 0, data = 0;
  bool digest = false;
  for (int64_t i = 0; i < report.row_count(); ++i) {
    const std::string_view mode = report.outline(i).mode;
    statistics += mode == "statistics";
    data += mode == "data";
    digest |= mode == "digest";
  }
  if (statistics > 0 && data > 0)
    return fmt::format(
        "the elements of {} tensors are equal, and of {} {} all that is recorded: their statistics",
        count_text(data), count_text(statistics), statistics == 1 ? "other" : "others");
  if (statistics > 0)
    return "all recorded statistics are equal; a permutation of elements, or errors that cancel, leave them "
           "equal too";
  return digest ? "all checksums are equal" : "the elements of every matched tensor are equal";
}

// "1 row fails by itself", "3 rows fail and 2 warn by themselves; the first".
std::string rows_text(const Summary& summary) {
  const bool fails = summary.fail > 0, both = fails && summary.warning > 0;
  const int64_t first = fails ? summary.fail : summary.warning, all = summary.fail + summary.warning;
  const std::string_view verb = fails ? "fail" : "warn";
  std::string text =
      fmt::format("{} {} {}{}", count_text(first), first == 1 ? "row" : "rows", verb, first == 1 ? "s" : "");
  if (both)
    text += fmt::format(" and {} {}", count_text(summary.warning), summary.warning == 1 ? "warns" : "warn");
  return text + (all == 1 ? " by itself" : " by themselves; the first");
}

// Rows that fail or warn for themselves (dtype, shape, an argument), where no culprit speaks for them: how
// many, and the first of the worst.
std::string rows_sentence(const ReportView& report) {
  const Summary& summary = report.head().summary;
  if (summary.fail + summary.warning == 0) return "";
  const Verdict worst = summary.fail > 0 ? Verdict::fail : Verdict::warning;
  for (int64_t i = 0; i < report.row_count(); ++i) {
    if (report.outline(i).verdict != worst) continue;
    RowView view;
    view.wants_metrics = false;
    report.read_row(i, view);
    return fmt::format("{}: {} {}: {}", rows_text(summary), printable(view.named().op),
                       printable(view.named().item), printable(view.message));
  }
  return "";
}

// Where no row of plain files fails: the pair that is farthest off, by name.
std::string worst_pair(const ReportView& report) {
  const ReportHead& head = report.head();
  const RowErrorColumns columns(head);
  RowView row;
  double largest = 0;
  int64_t worst = -1;
  for (int64_t i = 0; i < report.row_count(); ++i) {
    const RowOutline outline = report.outline(i);
    if (outline.one_sided() || outline.verdict == Verdict::skip) continue;
    report.read_row(i, row);
    if (metric(head, row, "unequal") == 0) continue;
    const double error = columns.error(row);
    if (worst >= 0 && error <= largest) continue;
    largest = error;
    worst = i;
  }
  if (worst < 0) return "";
  report.read_row(worst, row);
  std::vector<std::string> parts = {difference_sentence(head, row), data_sentence(head, row, {}, {})};
  if (const auto error = metric(head, row, "rel_l2")) parts.push_back(fmt::format("rel_l2 {:.1e}", *error));
  std::erase(parts, "");
  return printable(fmt::format("farthest off is {}: {}", row.named().op, fmt::join(parts, "; ")));
}

}  // namespace

std::string headline(std::string_view verdict) {
  std::string text = printable(verdict);
  for (char& c : text) {
    if (c == '_') c = ' ';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string call_site(const std::vector<std::string>& stack) {
  for (const std::string& frame : stack)
    if (const std::string text = frame_text(frame); !text.empty() && !is_wrapper(frame))
      return "called from " + text;
  return stack.empty() ? "" : "called from " + stack.front();
}

std::vector<std::string> run_sentences(const ReportView& report) {
  const std::string& verdict = report.head().localisation.verdict;
  std::vector<std::string> found;
  if (verdict == "identical") {
    found.push_back(equal_sentence(report));
  } else if (verdict == "rounding") {
    found.emplace_back(
        "values differ, and the number formats in use explain every difference; no operation is at fault");
  } else if (verdict == "structure_only") {
    found.emplace_back("values agree; calls were added, removed, reordered or renamed");
    found.emplace_back("next: look at the rows with match only_target, only_golden and aligned");
  } else if (verdict == "inconclusive") {
    found.emplace_back("what is recorded does not show an operation at fault, nor that there is none");
  } else {
    return found;
  }
  if (const std::string rows = rows_sentence(report); !rows.empty()) found.push_back(rows);
  return found;
}

std::vector<std::string> plain_file_sentences(const ReportView& report) {
  const ReportHead& head = report.head();
  if (head.target.source != kPlainFiles || head.golden.source != kPlainFiles) return {};
  const bool single = report.row_count() == 1;
  std::vector<std::string> found;
  RowView row;
  int64_t more = 0;
  for (int64_t i = 0; i < report.row_count(); ++i) {
    const RowOutline outline = report.outline(i);
    const bool is_bad = outline.verdict == Verdict::fail || outline.verdict == Verdict::warning;
    if (outline.one_sided() || (!single && !is_bad)) continue;
    if (found.size() == kMaxFiles) {
      ++more;
      continue;
    }
    report.read_row(i, row);
    const bool is_equal = metric(head, row, "unequal") == 0 && metric(head, row, "nonfinite_mismatch") == 0;
    std::vector<std::string> parts = {"", ""};
    if (!is_equal) parts = {difference_sentence(head, row), data_sentence(head, row, {}, {})};
    if (row.target.dtype != row.golden.dtype && !row.unreadable)
      parts[0] +=
          fmt::format("{}{} against {}", parts[0].empty() ? "" : "; ", row.target.dtype, row.golden.dtype);
    if (const auto error = metric(head, row, "rel_l2"); error && !is_equal)
      parts.push_back(fmt::format("rel_l2 {:.1e}", *error));
    if (parts[1].empty() && !single) parts.emplace_back(row.message);
    std::erase(parts, "");
    const std::string name = single ? "" : std::string(row.named().op) + ": ";
    if (!parts.empty()) found.push_back(printable(name + fmt::format("{}", fmt::join(parts, "; "))));
  }
  if (found.empty() && report.head().localisation.verdict == "inconclusive")
    if (const std::string worst = worst_pair(report); !worst.empty()) found.push_back(worst);
  if (more > 0) found.push_back(fmt::format("and {} more {} not pass", more, more == 1 ? "does" : "do"));
  return found;
}

int64_t padded_rows(const ReportView& report) {
  int64_t count = 0;
  for (int64_t i = 0; i < report.row_count(); ++i)
    count += report.outline(i).message.find(kPaddingMessage) != std::string_view::npos;
  return count;
}

std::vector<std::string> culprit_sentences(const ReportView& report, const Culprit& culprit) {
  std::vector<std::string> found;
  const auto say = [&](const std::string& text) {
    if (!text.empty()) found.push_back(printable(text));
  };
  const bool has_row = culprit.row >= 0 && culprit.row < report.row_count();
  std::optional<ToldRow> told;
  if (const std::string read_as = evidence_of(culprit, "read_as"); !read_as.empty()) {
    // The row of an argument that is written to holds what lay there before.
    say(evidence_of(culprit, "reason"));
    say("read as " + read_as);
  } else if (has_row) {
    RowView row;
    report.read_row(culprit.row, row);
    std::string first = culprit.kind == "compute_fault" ? input_sentence(report, culprit.row) : "";
    if (culprit.kind == "input_fault") first = evidence_of(culprit, "reason");
    if (culprit.kind == "input_fault" && first.empty()) first = "no recorded operation produced this input";
    const std::string second =
        says(row.message, kExactTypeDiffers) ? "" : difference_sentence(report.head(), row);
    const bool is_whole = first.empty() || second.empty() || culprit.kind == "input_fault";
    if (is_whole) say(first);
    say(is_whole ? second : first + "; " + second);
    say(row.mode == "statistics" ? statistics_sentence(report.head(), row)
                                 : data_sentence(report.head(), row, culprit.worst, row.message));
    told = ToldRow{std::string(row.message), is_exact_type(row.named().dtype)};
    // Of an input that came from outside, the reason says it.
    if (culprit.kind != "input_fault" || told->message != kCulpritMessage) say(told->message);
  }
  if (has_row && !told) told.emplace();
  if (has_row) say(evidence_of(culprit, kChoice));
  say(place_sentence(culprit));
  say(evidence_sentence(culprit, told));
  for (const auto& [name, value] : culprit.evidence)
    if (has_row && name.starts_with(kReplayEvidence)) say("run again in float64: " + value);
  if (!culprit.module.empty()) say("in module " + culprit.module);
  say(call_site(culprit.stack));
  return found;
}

LoneCalls lone_calls(const ReportView& report) {
  LoneCalls lone;
  int64_t op_pair = -1;
  bool alone = false, on_target = false;
  std::string name;
  const auto take = [&] {
    if (!alone) return;
    ++(on_target ? lone.target : lone.golden);
    std::vector<std::string>& names = on_target ? lone.target_names : lone.golden_names;
    if (names.size() < kMaxLoneNames) names.push_back(printable(name));
  };
  for (int64_t i = 0; i < report.row_count(); ++i) {
    const RowOutline row = report.outline(i);
    if (row.op_pair != op_pair) {
      take();
      op_pair = row.op_pair;
      alone = row.one_sided();
      on_target = row.on_target;
      if (alone) name = op_name(report, i);
    }
    // A row of both sides, or one of the other side, means that the call has a partner.
    alone = alone && row.one_sided() && row.on_target == on_target;
  }
  take();
  return lone;
}

std::vector<std::pair<std::string, int64_t>> match_counts(const ReportView& report) {
  std::vector<std::pair<std::string, int64_t>> counts;
  for (int64_t i = 0; i < report.row_count(); ++i) {
    const RowOutline row = report.outline(i);
    if (row.one_sided()) continue;
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& count) { return count.first == row.match; });
    if (found == counts.end())
      counts.emplace_back(row.match, 1);
    else
      ++found->second;
  }
  return counts;
}

}  // namespace ulpscope
