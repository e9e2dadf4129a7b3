#include "report/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "report/finding.hpp"
#include "report/output_file.hpp"
#include "report/row_error.hpp"
#include "report/shell_text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kWorstRows = 50, kDiagnostics = 20, kNotices = 20;

// Text of a dump inside a paragraph or a table cell.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '|':
      case '#':
      case '~':
      case '!':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

// A command to copy: an inline code span, fenced by more backquotes than it holds.
std::string code(std::string_view text) {
  const std::string safe = printable(text);
  size_t longest = 0, run = 0;
  for (const char c : safe) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string_view space = longest > 0 ? " " : "";
  return fmt::format("{}{}{}{}{}", fence, space, safe, space, fence);
}

std::string number_or_empty(int64_t value) { return value < 0 ? "" : std::to_string(value); }

void append_head(std::string& out, const ReportHead& head) {
  out += "# ulpscope compare\n\n";
  for (const auto& [word, side] : {std::pair("target", &head.target), std::pair("golden", &head.golden)})
    out += fmt::format("- {}: {} ({} {} {}, {} ops, {} tensors)\n", word, code(side->path),
                       plain(side->source), plain(side->task), plain(side->level), side->ops, side->tensors);
  const Summary& s = head.summary;
  out += fmt::format(
      "- {} pairs: {} pass, {} warning, {} fail, {} skip; {} rows only in target, {} only in golden\n",
      s.pairs, s.pass, s.warning, s.fail, s.skip, s.only_target, s.only_golden);
  if (s.unreadable > 0)
    out += fmt::format("- {} rows could not be compared: data is missing or unreadable\n", s.unreadable);
}

void append_culprit_table(std::string& out, const std::vector<Culprit>& culprits) {
  out += "| kind | op | tensor | step | rank | token | confidence | module |\n";
  out += "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Culprit& culprit : culprits)
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", plain(culprit.kind),
                       plain(culprit.op_name), plain(culprit.tensor), number_or_empty(culprit.step),
                       number_or_empty(culprit.rank), number_or_empty(culprit.token),
                       plain(culprit.confidence), plain(culprit.module));
}

void append_finding(std::string& out, const ReportView& report) {
  const Localisation& found = report.head().localisation;
  out += fmt::format("\n## {}\n\n", plain(headline(found.verdict)));
  for (const std::string& sentence : run_sentences(report)) out += plain(sentence) + "\n\n";
  for (const std::string& note : found.notes) out += plain(note) + "\n\n";
  if (!found.culprits.empty()) {
    append_culprit_table(out, found.culprits);
    const Culprit& first = found.culprits.front();
    out += fmt::format("\n{} {}:\n\n", plain(first.op_name), plain(first.tensor));
    for (const std::string& sentence : culprit_sentences(report, first))
      out += fmt::format("- {}\n", plain(sentence));
    for (const std::string& step : first.next) out += fmt::format("- next: {}\n", code(pasteable(step)));
    if (found.propagated > 0)
      out += fmt::format("- {} later tensors differ because of the culprits\n", found.propagated);
  }
  if (!found.suspects.empty()) {
    out += "\nSuspects:\n\n";
    append_culprit_table(out, found.suspects);
  }
}

void append_worst_rows(std::string& out, const ReportView& report) {
  const std::vector<RankedRow> worst = worst_rows(report, kWorstRows);
  if (worst.empty()) return;
  out += "\n## Worst rows\n\n| verdict | op | tensor | step | rank | relative error | message |\n";
  out += "| --- | --- | --- | --- | --- | --- | --- |\n";
  RowView row;
  row.wants_metrics = false;
  for (const RankedRow& key : worst) {
    report.read_row(key.row, row);
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", to_text(row.verdict), plain(row.named().op),
                       plain(row.named().item), number_or_empty(row.step), number_or_empty(row.rank),
                       std::isinf(key.error) ? "" : fmt::format("{:.3g}", key.error), plain(row.message));
  }
  const Summary& summary = report.head().summary;
  const int64_t more = summary.fail + summary.warning - static_cast<int64_t>(worst.size());
  if (more > 0) out += fmt::format("\nand {} more rows\n", more);
}

void append_unmatched(std::string& out, const ReportView& report) {
  const LoneCalls lone = lone_calls(report);
  const auto append = [&](std::string_view where, int64_t count, const std::vector<std::string>& names) {
    if (count == 0) return;
    out += fmt::format("\n{} calls {}:", count, where);
    for (const std::string& name : names) out += " " + plain(name);
    out += static_cast<size_t>(count) > names.size() ? ", …\n" : "\n";
  };
  append("only in target", lone.target, lone.target_names);
  append("only in golden", lone.golden, lone.golden_names);
}

void append_diagnostics(std::string& out, const ReportHead& head) {
  for (size_t i = 0; i < std::min(kNotices, head.notices.size()); ++i)
    out += fmt::format("\nNote: {}\n", plain(head.notices[i]));
  if (head.summary.diagnostics == 0) return;
  out += "\n## Diagnostics\n\n";
  const size_t count = std::min(kDiagnostics, head.diagnostics.size());
  for (size_t i = 0; i < count; ++i) {
    const Diagnostic& diagnostic = head.diagnostics[i];
    out += fmt::format("- {} ({}) {}: {}\n", to_text(diagnostic.severity), to_text(diagnostic.code),
                       plain(diagnostic.where), plain(diagnostic.text));
  }
  const int64_t more = head.summary.diagnostics - static_cast<int64_t>(count);
  if (more > 0) out += fmt::format("- and {} more\n", more);
}

}  // namespace

Status write_markdown(const ReportView& report, const std::string& path) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  std::string& out = file.text();
  append_head(out, report.head());
  append_finding(out, report);
  append_worst_rows(out, report);
  append_unmatched(out, report);
  append_diagnostics(out, report.head());
  return file.commit();
}

}  // namespace ulpscope
