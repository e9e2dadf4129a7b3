#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/dump_rows.hpp"
#include "cli/overview.hpp"
#include "cli/table.hpp"
#include "report/csv.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostDiagnostics = 10;

// A statistic as a person reads it on a terminal; other cells as they are.
std::string short_cell(const RowColumn& column, const std::string& cell, size_t limit) {
  constexpr size_t kLongNumber = 10;
  const auto number =
      limit > 0 && column.number && cell.size() > kLongNumber ? parse_double(cell) : std::nullopt;
  return number ? fmt::format("{:.5g}", *number) : printable(cell);
}

// Walks the rows twice, for the widths and for the text, and keeps one row in memory: a dump may have
// millions.
template <class Rows>
Status print_table(Context& context, const Rows& rows) {
  const std::vector<RowColumn> columns = rows.columns();
  const size_t limit = line_limit();
  std::vector<size_t> widths;
  std::vector<bool> is_number, is_name;
  for (const RowColumn& column : columns) {
    widths.push_back(column.in_table ? columns_of(column.heading) : 0);
    is_number.push_back(column.number);
    is_name.push_back(column.name == "op" || column.name == "tensor");
  }
  std::vector<std::string> cells;
  for (size_t i = 0; i < rows.size(); ++i) {
    rows.cells(i, cells);
    for (size_t c = 0; c < columns.size(); ++c)
      if (columns[c].in_table)
        widths[c] = std::max(widths[c], columns_of(short_cell(columns[c], cells[c], limit)));
  }
  const std::vector<size_t> whole = widths;
  fit_columns(widths, is_number, limit, is_name);
  const auto put = [&](const std::function<std::string(size_t)>& cell) {
    std::string line;
    for (size_t c = 0; c < columns.size(); ++c) {
      if (widths[c] == 0) continue;
      if (!line.empty()) line += "  ";
      line += fit_cell(cell(c), widths[c], columns[c].number);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    context.out().line(line);
  };
  put([&](size_t c) { return columns[c].heading; });
  for (size_t i = 0; i < rows.size(); ++i) {
    if (context.cancel().requested()) return Error{Code::cancelled, "cancelled"};
    rows.cells(i, cells);
    put([&](size_t c) { return short_cell(columns[c], cells[c], limit); });
  }
  std::string left_out;
  for (size_t c = 0; c < columns.size(); ++c)
    if (widths[c] == 0 && whole[c] > 0)
      left_out += (left_out.empty() ? "" : ", ") + std::string(columns[c].name);
  if (!left_out.empty())
    context.log().info("too wide for this terminal: " + left_out + " (--format csv prints all)");
  return {};
}

template <class Rows>
Status print_csv(Context& context, const Rows& rows) {
  std::vector<std::string> cells;
  for (const RowColumn& column : rows.columns()) cells.push_back(column.name);
  std::string line;
  append_csv_line(line, cells);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (context.cancel().requested()) return Error{Code::cancelled, "cancelled"};
    rows.cells(i, cells);
    // The table may end in a terminal, and names come from strangers. --format json keeps them as they are.
    for (std::string& cell : cells) cell = printable(cell);
    append_csv_line(line, cells);
    context.out() << line;
    line.clear();
  }
  context.out() << line;
  return {};
}

void append_cell(std::string& out, const RowColumn& column, const std::string& cell) {
  append_json_string(out, column.name);
  out += ": ";
  if (!column.number)
    append_json_string(out, cell);
  else if (cell.empty())
    out += "null";
  else
    append_json_number_or_string(out, cell);
}

template <class Rows>
Status print_json_rows(Context& context, std::string_view member, const Rows& rows) {
  const std::vector<RowColumn> columns = rows.columns();
  std::string text = ",\n  \"" + std::string(member) + "\": [";
  std::vector<std::string> cells;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (context.cancel().requested()) return Error{Code::cancelled, "cancelled"};
    rows.cells(i, cells);
    text += i == 0 ? "\n    {" : ",\n    {";
    for (size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) text += ", ";
      append_cell(text, columns[c], cells[c]);
    }
    text += "}";
    context.out() << text;
    text.clear();
  }
  context.out() << text << "]";
  return {};
}

void append_member(std::string& out, std::string_view member, const std::string& text) {
  out += ",\n  \"" + std::string(member) + "\": ";
  append_json_string(out, text);
}

void append_numbers(std::string& out, std::string_view member, const std::vector<int32_t>& numbers) {
  out += ",\n  \"" + std::string(member) + "\": [";
  for (size_t i = 0; i < numbers.size(); ++i) out += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  out += "]";
}

std::string json_head(const Overview& facts) {
  std::string out = "{\n  \"schema\": \"ulpscope.list/1\"";
  append_member(out, "path", facts.path);
  append_member(out, "source", facts.source);
  append_member(out, "why", facts.why);
  append_member(out, "task", facts.task);
  append_member(out, "level", facts.level);
  append_numbers(out, "steps", facts.steps);
  append_numbers(out, "ranks", facts.ranks);
  out += ",\n  \"ops\": " + std::to_string(facts.ops) + ",\n  \"tensors\": " + std::to_string(facts.tensors) +
         ",\n  \"values\": " + std::to_string(facts.values) +
         ",\n  \"tensors_with_data\": " + std::to_string(facts.tensors_with_data) +
         ",\n  \"recorded_bytes\": " + std::to_string(facts.recorded_bytes) + ",\n  \"dtypes\": {";
  bool first = true;
  for (const auto& [dtype, count] : facts.dtypes) {
    out += first ? "" : ", ";
    append_json_string(out, dtype);
    out += ": " + std::to_string(count);
    first = false;
  }
  out += "},\n  \"engine\": [";
  for (size_t i = 0; i < facts.engine.size(); ++i) {
    out += i == 0 ? "" : ", ";
    append_json_string(out, facts.engine[i]);
  }
  return out + "]";
}

Overview facts_of(Context& context, const DumpIndex& index) {
  Overview facts = overview(index);
  const auto registry = context.registry();
  if (!registry.ok()) return facts;
  const auto answer = (*registry)->ask_source(facts.source, facts.path);
  if (answer.ok()) facts.why = answer->why;
  return facts;
}

class ListCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "list";
    info.group = CommandGroup::look;
    info.summary = "Lists what a dump holds: operations or tensors";
    info.synopsis = "DUMP [--ops | --tensors] [--filter GLOB]";
    info.description =
        "Prints what kind of dump it is, what it holds, and its operations in execution order. --ops or "
        "--tensors prints "
        "the table alone. Reads no tensor data.";
    info.example = "ulpscope list out_a --tensors --filter '*matmul*'";
    info.max_positional = 1;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> options = {
        {"ops", {}, OptionKind::flag, "", "the table of operations, without the overview"},
        {"tensors", {}, OptionKind::flag, "", "the table of tensors, without the overview"},
        {"format", {}, OptionKind::value, "FORMAT", "table (default), csv or json"}};
    for (OptionSpec& option : dump_options()) options.push_back(std::move(option));
    return options;
  }

  Result<ExitCode> run(Context& context) override {
    const ParsedOptions& options = context.options();
    ULPSCOPE_ASSIGN(const std::string path, options.required(0, "DUMP"));
    ULPSCOPE_ASSIGN(const std::string format, options.choice("format", {"table", "csv", "json"}));
    ULPSCOPE_ASSIGN(const ScanFilter filter, scan_filter(options));
    if (options.has("ops") && options.has("tensors"))
      return Error{Code::usage, "--ops and --tensors exclude each other"};
    ULPSCOPE_ASSIGN(const DumpIndex index, context.open_dump(path));
    context.log_diagnostics(kMostDiagnostics);
    const bool tensors = options.has("tensors");
    if (format == "json") {
      ULPSCOPE_TRY(print_json(context, index, tensors));
    } else if (format == "csv") {
      ULPSCOPE_TRY(tensors ? print_csv(context, TensorRows(index)) : print_csv(context, OpRows(index)));
    } else {
      const bool alone = tensors || options.has("ops");
      if (!alone) context.out() << overview_text(facts_of(context, index)) << "\n";
      ULPSCOPE_TRY(tensors ? print_table(context, TensorRows(index)) : print_table(context, OpRows(index)));
    }
    // A lost part is an error of its own; a dump of which nothing is left is unreadable, whatever the reader
    // made of it.
    const Diagnostics& found = context.diagnostics();
    const bool nothing = index.ops().empty() && found.count(Severity::warning) > 0;
    const bool lost =
        std::any_of(index.tensors().begin(), index.tensors().end(),
                    [](const TensorRow& tensor) { return tensor.absent == ULPSCOPE_ABSENT_BAD; });
    return nothing || lost || found.count(Severity::error) > 0 ? ExitCode::unreadable : ExitCode::success;
  }

 private:
  static Status print_json(Context& context, const DumpIndex& index, bool tensors) {
    context.out() << json_head(facts_of(context, index));
    if (tensors)
      ULPSCOPE_TRY(print_json_rows(context, "tensor_rows", TensorRows(index)));
    else
      ULPSCOPE_TRY(print_json_rows(context, "op_rows", OpRows(index)));
    context.out() << "\n}\n";
    return {};
  }
};

}  // namespace

std::unique_ptr<Command> make_list_command() { return std::make_unique<ListCommand>(); }

}  // namespace ulpscope
