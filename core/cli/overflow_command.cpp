#include <algorithm>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/table.hpp"
#include "cli/wrap_text.hpp"
#include "overflow/search.hpp"
#include "report/finding.hpp"
#include "report/json_text.hpp"
#include "report/output_file.hpp"
#include "tensors/element_text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostDiagnostics = 10;
constexpr size_t kMostPrinted = 10;  // findings on stdout; the file has all
constexpr size_t kMostAncestors = 64;

std::string place_of(const OpRow& op) {
  std::string text;
  const auto add = [&](std::string_view word, int32_t number) {
    if (number >= 0) text += (text.empty() ? "" : "  ") + std::string(word) + " " + std::to_string(number);
  };
  add("step", op.step);
  add("rank", op.rank);
  add("token", op.token);
  return text;
}

std::vector<std::string_view> stack_of(const DumpIndex& index, OpId op) {
  std::vector<std::string_view> frames;
  for (const std::string_view frame : split(index.text(index.ops()[op].stack), '\n'))
    if (!frame.empty()) frames.push_back(frame);
  return frames;
}

// The call site where the dump knows it, else where the bytes lie.
std::string where_of(const DumpIndex& index, const OverflowFinding& finding) {
  const auto frames = stack_of(index, finding.op);
  if (!frames.empty()) return std::string(frames.front());
  if (finding.item == kNoIndex) return {};
  const TensorId tensor = index.items()[finding.item].tensor;
  return tensor == kNoIndex ? std::string() : std::string(index.text(index.tensors()[tensor].data_file));
}

// The modules around an op, outermost first.
std::vector<std::string_view> modules_of(const DumpIndex& index, OpId op) {
  std::vector<std::string_view> names;
  OpId parent = index.ops()[op].parent;
  for (; parent != kNoIndex && names.size() < kMostAncestors; parent = index.ops()[parent].parent)
    names.push_back(index.text(index.ops()[parent].name));
  std::reverse(names.begin(), names.end());
  return names;
}

void append_strings(std::string& out, std::string_view member, const std::vector<std::string_view>& texts) {
  out += ", \"" + std::string(member) + "\": [";
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_string(out, texts[i]);
  }
  out += "]";
}

void append_member(std::string& out, std::string_view member, std::string_view text) {
  out += ", \"" + std::string(member) + "\": ";
  append_json_string(out, text);
}

std::string number_or_null(int64_t number) { return number < 0 ? "null" : std::to_string(number); }

void append_finding(std::string& out, const DumpIndex& index, const OverflowFinding& finding) {
  const OpRow& op = index.ops()[finding.op];
  out += "    {\"op\": ";
  append_json_string(out, index.text(op.name));
  append_member(out, "tensor", finding.item == kNoIndex ? std::string() : index.item_name(finding.item));
  append_member(out, "kind", to_text(finding.kind));
  out += ", \"step\": " + number_or_null(op.step) + ", \"rank\": " + number_or_null(op.rank);
  if (op.token >= 0) out += ", \"token\": " + std::to_string(op.token);
  append_member(out, "status", to_text(finding.status));
  append_member(out, "where", where_of(index, finding));
  append_member(out, "why", finding.why);
  append_strings(out, "modules", modules_of(index, finding.op));
  append_strings(out, "stack", stack_of(index, finding.op));
  out += "}";
}

struct Outcome {
  OverflowReport report;
  StateCounts counts;
};

int64_t propagated(const OverflowReport& report) {
  // Findings of statistics alone are no bad tensors.
  return std::max<int64_t>(0, report.bad_tensors - report.ignored - (report.certain - report.records));
}

Status write_result(Context& context, const DumpIndex& index, const Outcome& outcome,
                    const std::string& folder) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(folder + "/overflow_result.json"));
  std::string& out = file.text();
  out += "{\n  \"schema\": \"ulpscope.overflow/1\"";
  append_member(out, "version", product_version());
  std::vector<std::string_view> words(context.command_line().begin(), context.command_line().end());
  append_strings(out, "command", words);
  append_member(out, "dump", index.path());
  append_member(out, "source", index.source_name());
  const OverflowReport& report = outcome.report;
  out += ",\n  \"summary\": {\"findings\": " + std::to_string(report.findings.size()) +
         ", \"certain\": " + std::to_string(report.certain) +
         ", \"tensors\": " + std::to_string(index.tensors().size()) +
         ", \"not_finite\": " + std::to_string(report.bad_tensors) +
         ", \"propagated\": " + std::to_string(propagated(report)) +
         ", \"ignored\": " + std::to_string(report.ignored) +
         ", \"by_statistics\": " + std::to_string(outcome.counts.from_statistics) +
         ", \"by_data\": " + std::to_string(outcome.counts.from_data) +
         ", \"exact\": " + std::to_string(outcome.counts.exact) +
         ", \"unknown\": " + std::to_string(outcome.counts.unknown) +
         ", \"unreadable\": " + std::to_string(outcome.counts.unreadable) + "},\n  \"findings\": [\n";
  for (size_t i = 0; i < report.findings.size(); ++i) {
    append_finding(out, index, report.findings[i]);
    out += i + 1 < report.findings.size() ? ",\n" : "\n";
    file.flush_when_large();
  }
  out += "  ]\n}\n";
  return file.commit();
}

std::string kind_words(const OverflowFinding& finding) {
  const std::string what = finding.kind == OverflowKind::nan     ? "NaN"
                           : finding.kind == OverflowKind::inf   ? "INFINITY"
                           : finding.kind == OverflowKind::limit ? "FLOAT16 LIMIT"
                                                                 : "OVERFLOW RECORD";
  return finding.status == OverflowStatus::certain ? what : "possible " + what;
}

std::string counted(int64_t count, const char* one, const char* many) {
  return count_text(count) + " " + (count == 1 ? one : many);
}

void print_finding(Output& out, const DumpIndex& index, const OverflowFinding& finding) {
  const OpRow& op = index.ops()[finding.op];
  const std::string place = place_of(op);
  const std::string kind = kind_words(finding);
  const size_t limit = line_limit(), taken = kind.size() + 2 + (place.empty() ? 0 : 3 + place.size());
  const std::string shown =
      printable(finding.item == kNoIndex ? std::string(index.text(op.name)) : full_name(index, finding.item));
  out << kind << "  " << (limit > taken ? shorten_middle(shown, static_cast<int64_t>(limit - taken)) : shown);
  if (!place.empty()) out << "   " << place;
  out << "\n";
  if (!finding.why.empty()) out << wrap_text(printable(finding.why), 4, limit);
  std::vector<std::string> stack;
  for (const std::string_view frame : stack_of(index, finding.op)) stack.emplace_back(frame);
  if (const std::string site = call_site(stack); !site.empty()) out << "    " << printable(site) << "\n";
  const auto modules = modules_of(index, finding.op);
  if (!modules.empty()) out << "    inside " << printable(modules.back()) << "\n";
}

void print_outcome(Output& out, const DumpIndex& index, const Outcome& outcome, const std::string& folder) {
  const std::string facts = std::string(index.source_name()) + " · " + std::string(index.task()) + " · " +
                            counted(static_cast<int64_t>(index.ops().size()), "op", "ops") + " · " +
                            counted(static_cast<int64_t>(index.tensors().size()), "tensor", "tensors");
  const size_t limit = line_limit(), taken = 3 + columns_of(facts);
  out << (limit > taken ? shorten_middle(printable(index.path()), static_cast<int64_t>(limit - taken))
                        : printable(index.path()))
      << "   " << facts << "\n\n";
  const OverflowReport& report = outcome.report;
  if (report.findings.empty()) {
    const bool all_known = outcome.counts.unknown + outcome.counts.unreadable == 0;
    out << (all_known ? "no NaN and no infinity that the dump does not explain\n"
                      : "no NaN and no infinity that the dump does not explain, as far as it was recorded\n");
  }
  for (size_t i = 0; i < report.findings.size() && i < kMostPrinted; ++i)
    print_finding(out, index, report.findings[i]);
  if (report.findings.size() > kMostPrinted)
    out << "and " << count_text(static_cast<int64_t>(report.findings.size() - kMostPrinted))
        << " more findings\n";
  if (const int64_t others = propagated(report); others > 0)
    out << counted(others, report.findings.empty() ? "tensor holds" : "other tensor holds",
                   report.findings.empty() ? "tensors hold" : "other tensors hold")
        << (report.findings.empty()       ? " NaN or infinity on purpose, as masks do\n"
            : report.findings.size() == 1 ? " NaN or infinity because of it or on purpose\n"
                                          : " NaN or infinity because of them or on purpose\n");
  if (outcome.counts.unknown > 0)
    out << counted(outcome.counts.unknown, "tensor has", "tensors have")
        << " neither statistics nor data: nothing is known of them\n";
  if (outcome.counts.unreadable > 0)
    out << counted(outcome.counts.unreadable, "tensor", "tensors") << " could not be read\n";
  out << "\nfindings " << count_text(static_cast<int64_t>(report.findings.size())) << "   certain "
      << count_text(report.certain) << "         " << printable(folder) << "/overflow_result.json\n";
}

Result<OverflowKinds> wanted_kinds(const ParsedOptions& options) {
  OverflowKinds kinds;
  const auto given = options.text("kinds");
  if (!given) return kinds;
  kinds = {false, false, false, false};
  for (const std::string_view word : split(*given, ',')) {
    if (word == "nan")
      kinds.nan = true;
    else if (word == "inf")
      kinds.inf = true;
    else if (word == "limit")
      kinds.limit = true;
    else if (word == "record")
      kinds.record = true;
    else
      return Error{Code::usage, "option --kinds: '" + printable(word) +
                                    "', expected some of nan, inf, limit and record, with commas between"};
  }
  return kinds;
}

class OverflowCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "overflow";
    info.aliases = {"overflow_check"};
    info.group = CommandGroup::look;
    info.summary = "Finds where NaN or infinity first appears in a dump";
    info.synopsis = "DUMP [-o DIR]";
    info.description =
        "Names, for each rank, the operations whose inputs are finite and whose output is not, in execution "
        "order; what "
        "follows from them is counted only. Recorded statistics are used where they say enough, data is read "
        "where they "
        "do not. Exit code 1 when something certain was found.";
    info.example = "ulpscope overflow out_a/step0";
    info.max_positional = 1;
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> options = {
        {"input_path", {"i"}, OptionKind::value, "DUMP", "the dump, as overflow_check names it"},
        {"kinds",
         {},
         OptionKind::value,
         "LIST",
         "what to look for: nan, inf, limit (largest float16), record (of the accelerator); default all"},
        {"strict", {}, OptionKind::flag, "", "exit code 1 for possible findings too"}};
    for (OptionSpec& option : dump_options()) options.push_back(std::move(option));
    return options;
  }

  Result<ExitCode> run(Context& context) override {
    const ParsedOptions& options = context.options();
    if (options.has("input_path") && !options.positional().empty())
      return Error{Code::usage, "the dump is named twice, by -i and as an argument"};
    ULPSCOPE_ASSIGN(const std::string path, options.has("input_path")
                                                ? Result<std::string>(*options.text("input_path"))
                                                : options.required(0, "DUMP"));
    ULPSCOPE_ASSIGN(const OverflowKinds kinds, wanted_kinds(options));
    ULPSCOPE_ASSIGN(const DumpIndex index, context.open_dump(path));
    ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
    Outcome outcome;
    const std::vector<TensorState> states =
        tensor_states(index, *pool, context.cancel(), context.diagnostics(), outcome.counts);
    context.log_diagnostics(kMostDiagnostics);
    const StateCounts& counts = outcome.counts;
    // Integers alone are an answer; floating tensors of which nothing is recorded are none.
    if (counts.from_statistics + counts.from_data == 0 &&
        (counts.exact == 0 || counts.unknown + counts.unreadable > 0))
      return Error{Code::io, printable(path) + ": no floating tensor has statistics or data to look at"};
    ULPSCOPE_ASSIGN(outcome.report, find_overflow(index, states, kinds, context.cancel()));
    ULPSCOPE_ASSIGN(const std::string folder, context.make_output_folder("overflow"));
    ULPSCOPE_TRY(write_result(context, index, outcome, folder));
    print_outcome(context.out(), index, outcome, folder);
    const bool found = options.has("strict") ? !outcome.report.findings.empty() : outcome.report.certain > 0;
    if (found) return ExitCode::finding;
    const bool lost = outcome.counts.unreadable > 0 || context.diagnostics().count(Severity::error) > 0;
    return lost ? ExitCode::unreadable : ExitCode::success;
  }
};

}  // namespace

std::unique_ptr<Command> make_overflow_command() { return std::make_unique<OverflowCommand>(); }

}  // namespace ulpscope
