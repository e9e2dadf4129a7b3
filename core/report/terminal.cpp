#include "report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/finding.hpp"
#include "report/shell_text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kFullCulprits = 3, kBriefCulprits = 5, kSuspects = 3, kDiagnostics = 5;
constexpr int64_t kLayoutWidth = 80, kMinName = 16, kMaxPasted = 2000;
constexpr std::string_view kIndent = "    ";

std::string counted(int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count_text(count), count == 1 ? one : many);
}

enum class Tone { bold, red, yellow, green, grey };

class Block {
 public:
  Block(const ReportView& report, const TerminalOptions& options)
      : report_(report), head_(report.head()), options_(options) {}

  std::string text() {
    write_sides();
    write_matches();
    out_ += '\n';
    write_finding();
    write_trouble();
    out_ += '\n';
    write_counts();
    return std::move(out_);
  }

 private:
  std::string painted(Tone tone, std::string_view text) const {
    if (!options_.style.color) return std::string(text);
    constexpr std::string_view kCodes[] = {"1", "1;31", "1;33", "1;32", "2"};
    return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<size_t>(tone)], text);
  }

  // Columns that are left beside a text; 0 means no limit, so that nothing is shortened.
  int64_t room(int64_t taken) const {
    return options_.style.width == 0 ? 0 : std::max(kMinName, options_.style.width - taken);
  }

  void line(std::string_view text) { out_.append(text).append("\n"); }

  // A sentence below a headline.
  void sentence(std::string_view text) { wrapped(text, kIndent); }

  void wrapped(std::string_view text, std::string_view indent) {
    out_ += wrap_words(text, indent, 2, options_.style.width);
  }

  // What is to be pasted is never wrapped, and shortened only where nobody would read it.
  void pasted(std::string_view indent, const std::string& text) {
    const bool is_long = options_.style.width > 0 && display_width(text) > kMaxPasted;
    line(std::string(indent) + (is_long ? fmt::format("a command of {} characters, in {}",
                                                      count_text(display_width(text)), where_all_is())
                                        : text));
  }

  // A command, or what to do in words, which may end with a command.
  void next(const std::string& step) {
    constexpr std::string_view kPasted[] = {"ulpscope ", "source ", "{"};
    const std::string text = pasteable(step);
    const std::string label = std::string(kIndent) + "next: ";
    const bool is_command = std::any_of(std::begin(kPasted), std::end(kPasted),
                                        [&](std::string_view begin) { return text.starts_with(begin); });
    if (is_command || options_.style.width == 0) return pasted(label, text);
    const size_t command = text.find(": ulpscope ");
    sentence("next: " + text.substr(0, command == std::string::npos ? command : command + 1));
    if (command != std::string::npos) pasted(std::string(kIndent) + "  ", text.substr(command + 2));
  }

  void write_side(std::string_view word, const SideInfo& side) {
    std::string facts;
    const std::string level = side.source == kPlainFiles ? "" : side.level;
    for (const std::string* fact : {&side.source, &side.task, &level})
      if (!fact->empty()) facts += printable(*fact) + " · ";
    // Plain files have no operations: each is a tensor.
    if (side.source != kPlainFiles) facts += counted(side.ops, "op", "ops") + " · ";
    facts += counted(side.tensors, "tensor", "tensors");
    const int64_t taken = static_cast<int64_t>(word.size()) + 2 + 3 + display_width(facts);
    line(fmt::format("{}  {}   {}", word, shorten_middle(printable(side.path), room(taken)), facts));
  }

  void write_sides() {
    write_side("target", head_.target);
    write_side("golden", head_.golden);
    if (head_.reference) write_side("reference", *head_.reference);
  }

  void write_matches() {
    std::string text;
    for (const auto& [match, count] : match_counts(report_)) {
      const std::string how = match == "exact"    ? "matched exactly"
                              : match == "origin" ? "matched by original name"
                                                  : printable(match);
      text += (text.empty() ? counted(count, "row", "rows") + " " : ", " + count_text(count) + " ") + how;
    }
    if (text.empty()) text = "no rows matched";
    line(fmt::format("{} · {} only in target · {} only in golden", text,
                     count_text(head_.summary.only_target), count_text(head_.summary.only_golden)));
    const LoneCalls lone = lone_calls(report_);
    write_lone("only in target", lone.target, lone.target_names);
    write_lone("only in golden", lone.golden, lone.golden_names);
    for (const std::string& notice : head_.notices) wrapped("note: " + printable(notice), "");
  }

  void write_lone(std::string_view where, int64_t count, const std::vector<std::string>& names) {
    if (count == 0) return;
    std::string text = fmt::format("{}: {}", where, fmt::join(names, ", "));
    const int64_t more = count - static_cast<int64_t>(names.size());
    if (more > 0) text += fmt::format(" and {} more {}", count_text(more), more == 1 ? "call" : "calls");
    wrapped(text, "");
  }

  // Whether a baseline accepts what the culprit does: its row passes only then.
  bool is_accepted(const Culprit& culprit) const {
    if (culprit.row < 0 || culprit.row >= report_.row_count()) return false;
    return report_.outline(culprit.row).verdict == Verdict::pass;
  }

  // "COMPUTE FAULT  op  tensor   step 0  rank 0        certain"
  void write_headline(const Culprit& culprit) {
    const std::string kind = headline(culprit.kind);
    std::string place = "  " + shorten_long(printable(culprit.tensor), room(4), options_.style.width);
    if (culprit.step >= 0 || culprit.rank >= 0) place += " ";
    if (culprit.step >= 0) place += fmt::format("  step {}", culprit.step);
    if (culprit.rank >= 0) place += fmt::format("  rank {}", culprit.rank);
    if (culprit.token >= 0) place += fmt::format("  token {}", culprit.token);
    const bool accepted = is_accepted(culprit);
    const std::string confidence = accepted ? "accepted" : printable(culprit.confidence);
    const int64_t fixed = display_width(kind) + 2 + display_width(place) + 2 + display_width(confidence);
    const int64_t width = options_.style.width == 0 ? kLayoutWidth : options_.style.width;
    const std::string op =
        shorten_long(printable(culprit.op_name), room(display_width(kind) + 2), options_.style.width);
    if (options_.style.width > 0 && fixed + display_width(op) > width) {
      line(fmt::format("{}  {}", painted(Tone::red, kind), painted(Tone::bold, op)));
      line(fmt::format("  {}  {}", place, confidence));
      return;
    }
    const int64_t gap = std::max<int64_t>(2, width - fixed + 2 - display_width(op));
    line(fmt::format("{}  {}{}{}{}", painted(accepted ? Tone::yellow : Tone::red, kind),
                     painted(Tone::bold, op), place, std::string(static_cast<size_t>(gap), ' '), confidence));
  }

  std::string where_all_is() const {
    return options_.report_path.empty() ? "the JSON result" : printable(options_.report_path);
  }

  void write_culprits() {
    const std::vector<Culprit>& culprits = head_.localisation.culprits;
    for (size_t i = 0; i < std::min(culprits.size(), kFullCulprits + kBriefCulprits); ++i) {
      if (i > 0 && i < kFullCulprits) out_ += '\n';
      write_headline(culprits[i]);
      if (i >= kFullCulprits) continue;
      for (const std::string& text : culprit_sentences(report_, culprits[i])) sentence(text);
      for (const std::string& step : culprits[i].next) next(step);
    }
    if (culprits.size() > kFullCulprits + kBriefCulprits)
      line(fmt::format("and {} more culprits, in {}", culprits.size() - kFullCulprits - kBriefCulprits,
                       where_all_is()));
    const int64_t propagated = head_.localisation.propagated;
    if (propagated > 0)
      sentence(fmt::format("{} later {} because of {}", count_text(propagated),
                           propagated == 1 ? "tensor differs" : "tensors differ",
                           culprits.size() == 1 ? "it" : "them"));
  }

  void write_suspects() {
    const std::vector<Culprit>& suspects = head_.localisation.suspects;
    for (size_t i = 0; i < std::min(suspects.size(), kSuspects); ++i) {
      sentence("suspect: " + printable(suspects[i].op_name) + "  " + printable(suspects[i].tensor));
      for (const std::string& step : suspects[i].next) next(step);
    }
    if (suspects.size() > kSuspects)
      sentence(fmt::format("and {} more suspects, in {}", suspects.size() - kSuspects, where_all_is()));
  }

  // "IDENTICAL", or "IDENTICAL, BUT 1 ROW FAILS" where a dtype, a shape or an argument does.
  std::string run_headline(bool good) const {
    const std::string verdict = headline(head_.localisation.verdict);
    const int64_t fails = head_.summary.fail;
    if (fails == 0) return painted(good ? Tone::green : Tone::yellow, verdict);
    return painted(Tone::red, fmt::format("{}, {}{} {}", verdict, good ? "BUT " : "",
                                          counted(fails, "ROW", "ROWS"), fails == 1 ? "FAILS" : "FAIL"));
  }

  void write_finding() {
    const std::string& verdict = head_.localisation.verdict;
    if (!head_.localisation.culprits.empty()) {
      write_culprits();
    } else {
      const bool good = verdict == "identical" || verdict == "rounding";
      line(run_headline(good));
      for (const std::string& text : run_sentences(report_)) sentence(text);
      if (!good) write_suspects();
    }
    for (const std::string& text : plain_file_sentences(report_)) sentence(text);
    if (const int64_t rows = padded_rows(report_); rows > 0)
      sentence(fmt::format("{} compared without {} padding rows", counted(rows, "tensor is", "tensors are"),
                           rows == 1 ? "its" : "their"));
    for (const std::string& note : head_.localisation.notes) sentence(printable(note));
  }

  void write_trouble() {
    const Summary& summary = head_.summary;
    if (summary.unreadable == 0 && summary.diagnostics == 0) return;
    out_ += '\n';
    if (summary.unreadable > 0)
      line(painted(Tone::yellow,
                   fmt::format("{} {} could not be compared: data is missing or unreadable",
                               count_text(summary.unreadable), summary.unreadable == 1 ? "row" : "rows")));
    size_t shown = 0;
    for (const Diagnostic& diagnostic : head_.diagnostics) {
      if (shown++ == kDiagnostics) break;
      const std::string place = diagnostic.where.empty() ? "" : printable(diagnostic.where) + ": ";
      wrapped(fmt::format("{}  {}{}", to_text(diagnostic.severity), place, printable(diagnostic.text)), "");
    }
    const int64_t more =
        summary.diagnostics - static_cast<int64_t>(std::min(kDiagnostics, head_.diagnostics.size()));
    if (more > 0)
      line(fmt::format("and {} more {}", count_text(more), more == 1 ? "diagnostic" : "diagnostics"));
  }

  void write_counts() {
    const Summary& summary = head_.summary;
    const auto count = [&](std::string_view word, int64_t number, Tone tone) {
      const std::string text = fmt::format("{} {}", word, count_text(number));
      return number > 0 ? painted(tone, text) : text;
    };
    std::string text =
        fmt::format("{}   {}   {}   {}", count("pass", summary.pass, Tone::green),
                    count("warning", summary.warning, Tone::yellow), count("fail", summary.fail, Tone::red),
                    count("skip", summary.skip, Tone::grey));
    if (!options_.report_path.empty()) {
      const std::string where = "report  " + printable(options_.report_path);
      const int64_t plain = display_width(fmt::format(
          "pass {}   warning {}   fail {}   skip {}         {}", count_text(summary.pass),
          count_text(summary.warning), count_text(summary.fail), count_text(summary.skip), where));
      text += options_.style.width > 0 && plain > options_.style.width ? "\n" + where : "         " + where;
    }
    line(text);
  }

  const ReportView& report_;
  const ReportHead& head_;
  const TerminalOptions& options_;
  std::string out_;
};

}  // namespace

std::string terminal_summary(const ReportView& report, const TerminalOptions& options) {
  return Block(report, options).text();
}

}  // namespace ulpscope
