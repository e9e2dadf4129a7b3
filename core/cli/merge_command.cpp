#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "merge/merge_config.hpp"
#include "merge/merge_files.hpp"
#include "merge/merge_table.hpp"

namespace ulpscope {
namespace {

Result<std::vector<std::string>> wanted_formats(const ParsedOptions& options) {
  const std::vector<std::string> known = {"json", "csv", "xlsx"};
  std::vector<std::string> formats;
  const std::string given = options.text_or("format", "json,csv,xlsx");
  for (const std::string_view word : split(given, ',')) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      return Error{Code::usage, "option --format: '" + printable(word) +
                                    "', expected some of json, csv and xlsx" + suggestion(word, known)};
    if (std::find(formats.begin(), formats.end(), word) == formats.end()) formats.emplace_back(word);
  }
  return formats;
}

Result<MergeRequest> wanted_rows(Context& context) {
  const ParsedOptions& options = context.options();
  MergeRequest request;
  request.name_glob = options.text_or("filter", "");
  if (const auto path = options.text("config")) {
    ULPSCOPE_ASSIGN(const MergeConfig config, read_merge_config(*path));
    request.apis = config.apis;
    request.metrics = config.metrics;
    for (const std::string& note : config.notes) context.log().warning(*path + ": " + note);
  }
  if (const auto list = options.text("metrics")) {
    request.metrics.clear();
    for (const std::string_view name : split(*list, ',')) {
      const std::vector<std::string> names = metrics_of_column(std::string(name));
      if (names.empty())
        return Error{Code::usage, "option --metrics: no metric is named '" + printable(name) + "'"};
      request.metrics.insert(request.metrics.end(), names.begin(), names.end());
    }
  }
  return request;
}

// What was asked for by one name of the peer may be two of ours, of which a result has one.
bool is_alternative(const std::string& missing, const std::vector<std::string>& present) {
  const auto has = [&](const char* name) {
    return std::find(present.begin(), present.end(), name) != present.end();
  };
  return (missing == "max_rel" && has("max_rel_err")) || (missing == "max_rel_err" && has("max_rel"));
}

// "1 row", "2 rows".
std::string counted(size_t count, std::string_view thing) {
  return count_text(static_cast<int64_t>(count)) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

class MergeCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "merge";
    info.aliases = {"merge_result"};
    info.group = CommandGroup::results;
    info.summary = "Puts the results of many comparisons side by side";
    info.synopsis = "DIR... [--metrics LIST] [--filter GLOB]";
    info.description =
        "DIR is the folder of a comparison, or a folder of such folders. The table has a row for each tensor "
        "and a column "
        "for each rank, or for each run and rank where ranks alone do not tell the columns apart.";
    info.example = "ulpscope merge out/compare_a out/compare_b --metrics cosine,rel_l2";
    info.max_positional = 100'000;
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    return {
        {"input_path", {"i"}, OptionKind::many, "DIR", "a folder, as merge_result names it"},
        {"config",
         {},
         OptionKind::value,
         "FILE",
         "YAML with the lists api and compare_index, as merge_result has it"},
        {"metrics", {}, OptionKind::value, "LIST", "metrics to show, with commas between; 'verdict' is one"},
        {"filter", {}, OptionKind::value, "GLOB", "operations to show, by name"},
        {"format", {}, OptionKind::value, "LIST", "some of json, csv and xlsx (default: all)"}};
  }

  Result<ExitCode> run(Context& context) override {
    std::vector<std::string> paths = context.options().positional();
    const auto& named = context.options().all("input_path");
    paths.insert(paths.end(), named.begin(), named.end());
    if (paths.empty()) return Error{Code::usage, "argument DIR is missing"};
    ULPSCOPE_ASSIGN(const std::vector<std::string> formats, wanted_formats(context.options()));
    ULPSCOPE_ASSIGN(const MergeRequest request, wanted_rows(context));
    std::vector<Error> problems;
    const std::vector<std::string> results = find_results(paths, problems);
    if (results.empty() && problems.size() == 1) return problems[0];
    for (const Error& each : problems) context.log().error(each.message);
    MergeTable table(request);
    auto unreadable = static_cast<int64_t>(problems.size());
    for (const std::string& path : results) {
      if (context.cancel().requested()) return Error{Code::cancelled, "cancelled"};
      const auto result = read_result(path);
      if (result.ok()) {
        table.add(*result, path);
        continue;
      }
      ++unreadable;
      context.log().error(result.error().message);
    }
    if (table.columns().empty()) return nothing_left(results.size() + problems.size(), unreadable);
    table.finish();
    return write(context, table, formats, unreadable);
  }

 private:
  static Error nothing_left(size_t results, int64_t unreadable) {
    if (unreadable >= static_cast<int64_t>(results)) return {Code::io, "none of the results could be read"};
    return {Code::usage, "no row of the results is named like this"};
  }

  static Result<ExitCode> write(Context& context, const MergeTable& table,
                                const std::vector<std::string>& formats, int64_t unreadable) {
    for (const std::string& name : table.missing_metrics())
      if (!is_alternative(name, table.metrics()))
        context.log().warning("no result has the metric '" + name + "'");
    if (table.repeated() > 0)
      context.log().warning(counted(static_cast<size_t>(table.repeated()), "row") +
                            (table.repeated() == 1 ? " repeats" : " repeat") +
                            " the name of another one of their rank and " +
                            (table.repeated() == 1 ? "is" : "are") + " left out");
    ULPSCOPE_ASSIGN(const std::string folder, context.make_output_folder("merge"));
    for (const std::string& format : formats) {
      const std::string path = fmt::format("{}/merge_result.{}", folder, format);
      if (format == "json")
        ULPSCOPE_TRY(write_merge_json(table, product_version(), context.command_line(), path));
      else if (format == "csv")
        ULPSCOPE_TRY(write_merge_csv(table, path));
      else
        ULPSCOPE_TRY(write_merge_xlsx(table, path));
    }
    context.out() << "merged " << counted(table.rows().size(), "row") << " of "
                  << counted(table.columns().size(), "column") << ":";
    constexpr size_t kMostLabels = 8;
    for (size_t i = 0; i < table.columns().size() && i < kMostLabels; ++i)
      context.out() << (i == 0 ? " " : ", ") << printable(table.columns()[i].label);
    if (table.columns().size() > kMostLabels) context.out() << ", …";
    context.out() << "         " << printable(folder) << "\n";
    return unreadable > 0 ? ExitCode::unreadable : ExitCode::success;
  }
};

}  // namespace

std::unique_ptr<Command> make_merge_command() { return std::make_unique<MergeCommand>(); }

}  // namespace ulpscope
