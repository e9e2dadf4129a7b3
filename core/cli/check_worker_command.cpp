// The command that check calls itself: runs APIs that it is asked for on stdin, one line of JSON each.
#include <signal.h>
#include <sys/prctl.h>

#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/stray_output.hpp"
#include "base/text.hpp"
#include "cli/call_dump.hpp"
#include "cli/commands.hpp"
#include "cli/executors.hpp"
#include "cli/plugin_end.hpp"
#include "execute/recorded_outputs.hpp"
#include "execute/worker_pool.hpp"
#include "index/known_sources.hpp"
#include "policy/loader.hpp"

namespace ulpscope {
namespace {

using nlohmann::json;

constexpr const char* kNotByHand = "check-worker is called by check, not by hand";

// What executors log while they run, for the message of the API that runs.
class Notes {
 public:
  void add(LogLevel level, std::string_view text) {
    if (level < LogLevel::info) return;
    const std::lock_guard lock(texts_mutex_);
    if (texts_.size() < kMost) texts_.push_back(printable(text));
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(texts_mutex_);
    return std::exchange(texts_, {});
  }

 private:
  static constexpr size_t kMost = 20;
  std::mutex texts_mutex_;  // guards texts_
  std::vector<std::string> texts_;
};

bool holds_outputs(const DumpIndex& index) {
  // A source of a plugin need not say in which direction its calls go.
  const bool without_phase = !has_api_calls(index.source_name());
  for (OpId op = 0; op < index.ops().size(); ++op) {
    const OpRow& row = index.ops()[op];
    const bool is_forward = row.phase == Phase::forward || (without_phase && row.phase == Phase::none);
    if (is_forward && row.kind != OpKind::module && has_recorded_outputs(index, op)) return true;
  }
  return false;
}

class CheckWorkerCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "check-worker";
    info.group = CommandGroup::hidden;
    info.summary = "Runs APIs for check; not to be called by hand";
    info.example = "ulpscope check -api_info dump.json";
    return info;
  }

  Result<ExitCode> run(Context& context) override {
    // A worker never outlives the host, and leaves Ctrl-C to it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGINT, SIG_IGN);
    report_crashes_to(answer_descriptor());
    std::string line;
    if (!std::getline(std::cin, line)) return Error{Code::usage, kNotByHand};
    const Status served = serve(context, line);
    if (served.ok()) return ExitCode::success;
    ULPSCOPE_TRY(say(context, failure_line(served.error())));
    return exit_code(served.error().code);
  }

 private:
  static Status say(Context& context, const std::string& line) {
    context.out() << line << "\n";
    return context.out().flush();
  }

  static Status serve(Context& context, const std::string& first) {
    const json wish = json::parse(first, nullptr, false);
    if (!wish.is_object()) return Error{Code::usage, kNotByHand};
    Notes notes;
    context.capture_plugin_log([&notes](LogLevel level, std::string_view text) { notes.add(level, text); });
    Status served = serve(context, wish, notes);
    context.capture_plugin_log({});
    return served;
  }

  static Status serve(Context& context, const json& wish, Notes& notes) {
    CallDumpChoice choice;
    if (wish.value("step", -1) >= 0) choice.filter.steps = {wish.value("step", -1)};
    if (wish.value("rank", -1) >= 0) choice.filter.ranks = {wish.value("rank", -1)};
    choice.source = wish.value("source", "auto");
    choice.options.json = wish.value("source_options", "{}");
    ULPSCOPE_ASSIGN(const DumpIndex index, open_call_dump(context, wish.value("dump", ""), choice));
    ExecutorWish executor_wish;
    executor_wish.device = wish.value("device", "auto");
    executor_wish.library = wish.value("library", "");
    executor_wish.threads = wish.value("threads", 1);
    executor_wish.first = wish.value("executor", "");
    executor_wish.has_recorded = !wish.value("random", false) && holds_outputs(index);
    ULPSCOPE_ASSIGN(ExecutorSet set, make_executors(context, executor_wish));
    ULPSCOPE_ASSIGN(Registry * registry, context.registry());
    const std::string file = wish.value("policy", "");
    auto policy =
        file.empty() ? load_preset(wish.value("profile", "seed"), *registry) : load_policy(file, *registry);
    if (!policy.ok()) return std::move(policy).error();
    std::set<std::string, std::less<>> quantised;
    for (const json& name : wish.value("quantised", json::array()))
      if (name.is_string()) quantised.insert(name.get<std::string>());
    ULPSCOPE_ASSIGN(OutputJudge judge,
                    OutputJudge::make(std::move(policy).value(), *registry, std::move(quantised)));
    CheckRules rules;
    rules.inputs.random = wish.value("random", false);
    rules.inputs.seed = wish.value("seed", uint64_t{1234});
    rules.error_folder = wish.value("error_folder", "");
    ApiChecker checker(index, set.executors, judge, rules, [&notes] { return notes.take(); });
    ULPSCOPE_TRY(say(context, ready_line({set.device, set.notices})));
    return answer(context, index, checker);
  }

  static Status answer(Context& context, const DumpIndex& index, ApiChecker& checker) {
    std::string line;
    while (std::getline(std::cin, line)) {
      ULPSCOPE_ASSIGN(const CheckItem item, item_from_line(line));
      const auto exists = [&](OpId op) { return op == kNoIndex || op < index.ops().size(); };
      CheckReport report = item.forward != kNoIndex && exists(item.forward) && exists(item.backward)
                               ? checker.check(item)
                               : skipped_report(item, "the dump changed while it was checked");
      ULPSCOPE_TRY(say(context, to_line(report)));
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Command> make_check_worker_command() { return std::make_unique<CheckWorkerCommand>(); }

}  // namespace ulpscope
