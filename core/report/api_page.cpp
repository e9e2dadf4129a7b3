#include "report/api_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "locate/evidence.hpp"
#include "report/api_statistics.hpp"
#include "report/page_members.hpp"
#include "report/page_table.hpp"

namespace ulpscope {
namespace {

// Groups that the page tells, and those that browsers without script get.
constexpr size_t kMostTold = 500, kMostStatic = 20;
constexpr std::string_view kColumns[] = {"call",      "api",          "forward", "backward",  "call_message",
                                         "direction", "output",       "name",    "judgement", "verdict",
                                         "dtype",     "device_dtype", "shape",   "message"};

// Which calls the page holds: all, or those in error, those with a warning, and an even sample of the others,
// as long as their rows fit.
std::vector<bool> choose_calls(const ApiStatistics& all, int64_t most_rows) {
  const std::vector<Verdict>& verdicts = all.verdicts();
  std::vector<bool> chosen(verdicts.size(), false);
  int64_t left = most_rows, total = 0;
  for (const uint32_t rows : all.rows()) total += rows;
  const auto take = [&](size_t call) {
    const auto rows = static_cast<int64_t>(all.rows()[call]);
    if (chosen[call] || rows > left) return;
    chosen[call] = true;
    left -= rows;
    total -= rows;
  };
  for (const Verdict worst : {Verdict::fail, Verdict::warning})
    for (size_t i = 0; i < verdicts.size(); ++i)
      if (verdicts[i] == worst) take(i);
  // Of the others every n-th, so that their rows fit: n is what is left to hold over the room for it.
  const int64_t every = left <= 0 ? 0 : std::max<int64_t>(1, (total + left - 1) / left);
  int64_t others = 0;
  for (size_t i = 0; every > 0 && i < verdicts.size(); ++i)
    if (!chosen[i] && others++ % every == 0) take(i);
  return chosen;
}

// Empty where the dump that the call would be run from is not known: a command has to run as it is.
std::string next_command(const ApiHead& head, const ApiSample& sample) {
  if (sample.api.empty() || head.dump.empty()) return "";
  const std::string direction = sample.direction.empty() ? "forward" : sample.direction;
  return printable("ulpscope replay " + shell_word(head.dump) + " --op " +
                   shell_word(sample.api + "." + direction));
}

class ApiPage {
 public:
  explicit ApiPage(const HtmlOptions& options)
      : options_(options), table_({std::begin(kColumns), std::end(kColumns)}, "cosine") {}

  Status read(const File& file) {
    ULPSCOPE_ASSIGN(head_, read_api_result(file, [&](const ApiCall& call) -> Status {
                      all_.add(call);
                      return {};
                    }));
    const std::vector<bool> chosen = choose_calls(all_, options_.most_rows);
    size_t number = 0;
    const auto take = [&](const ApiCall& call) -> Status {
      const size_t at = number++;
      // The file may have changed since it was read first.
      if (at >= chosen.size() || !chosen[at]) return {};
      return add_call(call, static_cast<int32_t>(calls_++));
    };
    const Result<ApiHead> again = read_api_result(file, take);
    if (!again.ok()) return again.error();
    return {};
  }

  Status write(const std::string& path, ThreadPool* pool) const {
    ULPSCOPE_ASSIGN(const PageBlocks blocks, table_.finish(head_text(), page_text(), pool));
    return write_page(path, options_.language, static_text(), blocks);
  }

 private:
  Status add_call(const ApiCall& call, int32_t number) {
    if (call.outputs.empty()) {
      start_row(call, number);
      return {};
    }
    for (const ApiOutput& output : call.outputs) {
      start_row(call, number);
      const OutputNameParts at = output_place(call.api, output.name);
      table_.set_text("direction", at.direction);
      table_.set_text("output", at.output);
      table_.set_text("name", output.name);
      table_.set_text("judgement", output.algorithm);
      table_.set("verdict", static_cast<int32_t>(output.verdict));
      table_.set_text("dtype", output.golden_dtype);
      table_.set_text("device_dtype", output.device_dtype);
      table_.set_text("shape", output.shape);
      table_.set_text("message", output.message);
      for (const ApiMetric& metric : output.metrics) ULPSCOPE_TRY(add_metric(metric));
    }
    return {};
  }

  void start_row(const ApiCall& call, int32_t number) {
    table_.begin_row();
    table_.set("call", number);
    table_.set_text("api", call.api);
    if (call.forward) table_.set("forward", static_cast<int32_t>(*call.forward));
    if (call.backward) table_.set("backward", static_cast<int32_t>(*call.backward));
    table_.set_text("call_message", call.message);
    table_.set("verdict", 0);
  }

  Status add_metric(const ApiMetric& metric) {
    const std::string name(metric.name);
    bool fits = true;
    if (metric.value) fits = fits && table_.set_number(name, *metric.value);
    if (metric.reference) fits = fits && table_.set_number("reference." + name, *metric.reference);
    if (metric.ratio) fits = fits && table_.set_number("ratio." + name, *metric.ratio);
    if (metric.verdict) fits = fits && table_.set("status." + name, static_cast<int32_t>(*metric.verdict));
    if (fits) return {};
    return Error{Code::format, "metric '" + printable(name) + "': expected a name of its own, and at most " +
                                   std::to_string(PageTable::kMostColumns) + " columns"};
  }

  std::string head_text() const {
    std::string out;
    add_member(out, "schema", head_.schema);
    add_member(out, "version", head_.version);
    add_member(out, "command", head_.command);
    add_member(out, "notices", head_.notices);
    add_member(out, "dump", head_.dump);
    add_member(out, "device", head_.device);
    add_member(out, "reference", head_.reference);
    add_member(out, "policy", head_.policy_name);
    add_member(out, "seed", head_.seed);
    out += fmt::format(
        "\"summary\":{{\"apis\":{},\"pass\":{},\"warning\":{},\"fail\":{},\"skip\":{},\"outputs\":{},"
        "\"unreadable\":{}}},",
        head_.apis, head_.pass, head_.warning, head_.error, head_.skip, head_.outputs, head_.unreadable);
    return out;
  }

  std::string page_text() const {
    std::string out;
    add_member(out, "all_calls", static_cast<int64_t>(all_.verdicts().size()));
    add_member(out, "calls", calls_);
    const std::vector<const ApiGroup*> groups = all_.bad_groups();
    add_member(out, "all_groups", static_cast<int64_t>(groups.size()));
    out += "\"groups\":[";
    for (size_t i = 0; i < std::min(groups.size(), kMostTold); ++i) {
      out += i == 0 ? "" : ",";
      add_group(out, *groups[i]);
    }
    out += "],\"judgements\":[";
    bool first = true;
    for (const auto& [name, counts] : all_.judgements()) {
      out += first ? "[" : ",[";
      first = false;
      append_json_string(out, name);
      for (const int64_t count : counts) out += "," + std::to_string(count);
      out += "]";
    }
    out += "],\"reasons\":[";
    first = true;
    for (const auto& [reason, count] : all_.reasons()) {
      out += first ? "[" : ",[";
      first = false;
      append_json_string(out, reason);
      out += "," + std::to_string(count) + "]";
    }
    return out + "],";
  }

  void add_group(std::string& out, const ApiGroup& group) const {
    const ApiSample& sample = group.sample;
    out += "{";
    add_member(out, "api", group.name);
    add_member(out, "calls", group.calls);
    add_member(out, "error", group.error);
    add_member(out, "warning", group.warning);
    add_member(out, "call", sample.api);
    add_member(out, "direction", sample.direction);
    add_member(out, "output", sample.output);
    add_member(out, "judgement", sample.algorithm);
    add_member(out, "dtype", sample.dtype);
    add_member(out, "shape", sample.shape);
    add_member(out, "message", sample.message);
    add_member(out, "metric", sample.metric);
    add_member(out, "value", sample.value);
    add_member(out, "reference", sample.reference);
    add_member(out, "ratio", sample.ratio);
    add_member(out, "next", next_command(head_, sample));
    out.back() = '}';
  }

  // For browsers that run no script.
  std::string static_text() const {
    std::string out = "<h1>";
    append_html(out, fmt::format("{} of {} calls in error", count_text(head_.error), count_text(head_.apis)));
    out += "</h1>";
    append_html_list(
        out, {fmt::format("pass {}, warning {}, error {}, skip {}", count_text(head_.pass),
                          count_text(head_.warning), count_text(head_.error), count_text(head_.skip))});
    const std::vector<const ApiGroup*> groups = all_.bad_groups();
    for (size_t i = 0; i < std::min(groups.size(), kMostStatic); ++i) {
      const ApiGroup& group = *groups[i];
      out += "<h2>";
      append_html(out, group.name);
      out += "</h2>";
      std::vector<std::string> lines = {
          fmt::format("{} in error, {} with a warning, of {} calls", count_text(group.error),
                      count_text(group.warning), count_text(group.calls)),
          group.sample.api + " " + group.sample.direction + " " + group.sample.output, group.sample.message,
          next_command(head_, group.sample)};
      std::erase(lines, "");
      append_html_list(out, lines);
    }
    return out;
  }

  const HtmlOptions& options_;
  ApiHead head_;
  ApiStatistics all_;
  PageTable table_;
  int64_t calls_ = 0;
};

}  // namespace

Status write_api_page(const File& file, const std::string& path, const HtmlOptions& options,
                      ThreadPool* pool) {
  ApiPage page(options);
  ULPSCOPE_TRY(page.read(file));
  return page.write(path, pool);
}

}  // namespace ulpscope
