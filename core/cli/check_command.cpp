#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "cli/call_dump.hpp"
#include "cli/check_settings.hpp"
#include "cli/commands.hpp"
#include "cli/page_options.hpp"
#include "cli/policy_options.hpp"
#include "cli/progress.hpp"
#include "execute/check_json.hpp"
#include "execute/check_plan.hpp"
#include "execute/check_tables.hpp"
#include "execute/worker_pool.hpp"
#include "index/known_sources.hpp"
#include "report/api_result.hpp"

namespace ulpscope {
namespace {

constexpr int64_t kMostWorkers = 64;
constexpr size_t kWorkersPerDevice = 8;  // more of them are told to be many
constexpr int64_t kMostSeconds = 86400;
constexpr size_t kMostShown = 20;
constexpr std::string_view kFormats = "json,csv";  // besides the page
constexpr std::string_view kResultFile = kCheckFile;

// What the options of a run come to.
struct CheckRequest {
  std::string dump;
  std::string csv_path;  // of a run to go on with
  std::vector<std::string> devices;
  CheckSettings settings;
  CheckChoice choice;
  WorkerOptions workers;
  bool save = false, random = false;
  int64_t seed = 1234;
  PageChoice page;
};

// One run: the plan, the tables, and what came out.
struct CheckSession {
  CheckPlan plan;
  int32_t step = -1, rank = -1;
  std::string source, source_options;  // that reads the dump, and what it is told
  CheckSummary summary;
  std::vector<std::string> notices, errors, lost;  // lost: calls whose data or worker was lost
  std::string device;
};

class CheckCommand : public Command {
 public:
  explicit CheckCommand(bool multi) : multi_(multi) {}

  CommandInfo info() const override {
    CommandInfo info;
    info.name = multi_ ? "multi_acc_check" : "check";
    if (!multi_) info.aliases = {"acc_check"};
    info.group = CommandGroup::compare;
    info.summary =
        multi_ ? "The same as check with several workers" : "Runs recorded APIs again and judges a device";
    info.synopsis = multi_ ? "-api_info DUMP_JSON [-n N] [-d 0 1]" : "-api_info DUMP_JSON [-d DEVICE]";
    info.description =
        "Runs every API call of a dump in a higher precision and on a device, or takes the outputs that the "
        "dump "
        "recorded of one, and compares outputs and gradients. Writes the tables accuracy_checking_result and "
        "accuracy_checking_details, check_result.json and report.html. Exit code 0: nothing failed; 1: an "
        "API is in "
        "error; 3: "
        "data could not be read, a worker was lost, or nothing could be compared.";
    info.example = multi_ ? "ulpscope multi_acc_check -api_info dump.json -n 4 -d 0 1"
                          : "ulpscope check -api_info dump.json -o results";
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> specs = {
        {"api_info_file",
         {"api_info"},
         OptionKind::value,
         "DUMP_JSON",
         "the dump.json, or the folder it is in"},
        {"save_error_data",
         {"save_error_data"},
         OptionKind::flag,
         "",
         "save the tensors of APIs that do not pass"},
        {"jit_compile", {"j"}, OptionKind::flag, "", "compile mode of an NPU; nothing elsewhere"},
        {"device",
         {"d"},
         OptionKind::sequence,
         "DEVICE",
         "cpu, cuda:N, npu:N, recorded (the outputs in the dump), or a number; several are taken in turn"},
        {"result_csv_path", {"csv_path"}, OptionKind::value, "CSV", "go on with this table of results"},
        {"filter_api", {"f"}, OptionKind::flag, "", "leave out calls that repeat an earlier one"},
        {"config_path",
         {"config"},
         OptionKind::many,
         "FILE",
         "settings: config.json (section acc_check), config.yaml; may be repeated"},
        {"num_splits",
         {"n"},
         OptionKind::value,
         "N",
         multi_ ? "worker processes, 1 to 64 (default 8)" : "worker processes, 1 to 64 (default 1)"},
        {"data",
         {},
         OptionKind::value,
         "WHICH",
         "recorded (default): tensors of the dump where it holds them; random"},
        {"seed", {}, OptionKind::value, "N", "of the random inputs (default 1234)"},
        {"time_limit", {}, OptionKind::value, "SECONDS", "of one API (default 300)"},
        {"device_library", {}, OptionKind::value, "FILE", "a library to load first, that of torch_npu"},
        {"executor",
         {},
         OptionKind::value,
         "NAME",
         "an executor of a plugin that gives the golden, asked before those that ulpscope brings"}};
    for (OptionSpec& spec : call_dump_options()) specs.push_back(std::move(spec));
    for (OptionSpec& spec : policy_options()) specs.push_back(std::move(spec));
    for (OptionSpec& spec : page_options(kFormats)) specs.push_back(std::move(spec));
    return specs;
  }

  Result<ExitCode> run(Context& context) override {
    ULPSCOPE_ASSIGN(CheckRequest request, read_request(context));
    ULPSCOPE_ASSIGN(const Policy policy, chosen_policy(context, context.options()));
    ULPSCOPE_ASSIGN(CheckSession session, make_plan(context, request));
    ULPSCOPE_ASSIGN(CheckTables tables, open_tables(context, request));
    const std::string folder = std::filesystem::path(tables.result_path()).parent_path().string();
    configure(context, request, session, tables, folder);
    const CheckRun facts{std::string(product_version()), request.dump, policy.name, policy.hash,
                         context.command_line(),         request.seed};
    return check(context, request, session, tables, facts, folder.empty() ? "." : folder);
  }

 private:
  Result<CheckRequest> read_request(Context& context) const {
    const ParsedOptions& options = context.options();
    CheckRequest request;
    const auto dump = options.text("api_info_file");
    if (!dump) return Error{Code::usage, "option --api-info-file DUMP_JSON is missing"};
    request.dump = *dump;
    request.csv_path = options.text_or("result_csv_path", "");
    ULPSCOPE_ASSIGN(request.page, chosen_page(options, kFormats));
    ULPSCOPE_ASSIGN(const int64_t count, options.integer("num_splits", multi_ ? 8 : 1, 1, kMostWorkers));
    request.workers.count = static_cast<int>(count);
    ULPSCOPE_ASSIGN(request.seed, options.integer("seed", 1234, 0, INT64_MAX));
    ULPSCOPE_ASSIGN(const int64_t seconds, options.integer("time_limit", 300, 1, kMostSeconds));
    request.workers.time_limit = std::chrono::seconds(seconds);
    ULPSCOPE_ASSIGN(const std::string data, options.choice("data", {"recorded", "random"}));
    request.random = data == "random";
    request.save = options.has("save_error_data");
    request.choice.filter = options.has("filter_api");
    ULPSCOPE_ASSIGN(request.settings, read_check_settings(options.all("config_path")));
    request.choice.white = request.settings.white.value_or(CheckSettings::Names());
    request.choice.black = request.settings.black.value_or(CheckSettings::Names());
    request.devices = options.all("device");
    ULPSCOPE_TRY(check_devices(request.devices));
    if (request.devices.empty()) request.devices = {"auto"};
    if (static_cast<size_t>(count) > kWorkersPerDevice * request.devices.size())
      context.log().warning(
          fmt::format("{} workers on {} devices are more than 8 a device", count, request.devices.size()));
    return request;
  }

  static Status check_devices(const std::vector<std::string>& devices) {
    std::set<std::string> seen;
    for (const std::string& device : devices) {
      const auto number = parse_int(device);
      const bool known = device == "cpu" || device == "recorded" || device == "auto" ||
                         device.starts_with("cuda:") || device.starts_with("npu:");
      if ((number && *number < 0) || (!number && !known))
        return Error{Code::usage, "option --device: '" + printable(device) +
                                      "', expected a number from 0, cpu, cuda:N, npu:N or recorded"};
      if (!seen.insert(device).second)
        return Error{Code::usage, "option --device: '" + printable(device) + "' stands twice"};
    }
    return {};
  }

  static Error no_calls(const std::string& dump, std::string_view source) {
    if (has_api_calls(source))
      return Error{Code::io, printable(dump) + ": no API calls, expected a dump.json of level L1 or mix"};
    return Error{Code::io, fmt::format("{}: {} gives no operation with inputs, expected calls to run again",
                                       printable(dump), source)};
  }

  static Result<CheckSession> make_plan(Context& context, const CheckRequest& request) {
    ULPSCOPE_ASSIGN(const CallDumpChoice choice, call_dump_choice(context.options()));
    ULPSCOPE_ASSIGN(const DumpIndex index, open_call_dump(context, request.dump, choice));
    context.log_diagnostics(kMostShown);
    if (index.groups().empty()) return no_calls(request.dump, index.source_name());
    if (index.groups().size() > 1)
      return Error{Code::usage,
                   fmt::format("{}: holds {} steps and ranks; name a dump.json, or one by --step and --rank",
                               printable(request.dump), index.groups().size())};
    CheckSession session;
    session.source = index.source_name();
    session.source_options = choice.options.json;
    const StepRank& group = index.groups()[0];
    session.step = group.step;
    session.rank = group.rank;
    ULPSCOPE_ASSIGN(session.plan, plan_check(index, group, request.choice));
    if (session.plan.items.empty()) return no_calls(request.dump, session.source);
    session.notices = session.plan.unused;
    if (session.plan.repeated > 0)
      session.notices.push_back(count_text(session.plan.repeated) +
                                " calls that repeat an earlier one were left out");
    return session;
  }

  static Result<CheckTables> open_tables(Context& context, const CheckRequest& request) {
    if (!request.csv_path.empty()) return CheckTables::resume(request.csv_path, request.settings.digits);
    ULPSCOPE_ASSIGN(const std::string folder, context.make_output_folder("check"));
    return CheckTables::create(folder, compact_time(), request.settings.digits);
  }

  // The command line and the first line of the workers.
  static void configure(Context& context, CheckRequest& request, const CheckSession& session,
                        const CheckTables& tables, const std::string& folder) {
    const ParsedOptions& options = context.options();
    std::error_code failed;
    const std::string program = std::filesystem::read_symlink("/proc/self/exe", failed).string();
    request.workers.command = {failed ? "ulpscope" : program, "check-worker", "--jobs", "1"};
    for (const std::string& path : options.all("plugin_path")) {
      request.workers.command.insert(request.workers.command.end(), {"--plugin-path", path});
    }
    if (options.has("allow_unsafe_plugins")) request.workers.command.push_back("--allow-unsafe-plugins");
    request.workers.show_errors = context.verbose();
    const int64_t threads = std::max<int64_t>(
        1, static_cast<int64_t>(std::thread::hardware_concurrency()) / request.workers.count);
    nlohmann::json wish = {{"dump", request.dump},
                           {"source", session.source},
                           {"source_options", session.source_options},
                           {"executor", options.text_or("executor", "")},
                           {"step", session.step},
                           {"rank", session.rank},
                           {"random", request.random},
                           {"seed", request.seed},
                           {"threads", threads},
                           {"library", options.text_or("device_library", "")},
                           {"policy", options.text_or("policy", "")},
                           {"profile", options.text_or("profile", "seed")},
                           {"quantised", request.settings.quantised}};
    if (request.save) {
      const std::string base =
          request.settings.error_data_path.empty() ? folder : request.settings.error_data_path;
      wish["error_folder"] = (base.empty() ? "." : base) + "/ut_error_data" + tables.time();
    }
    for (const std::string& device : request.devices) {
      wish["device"] = device;
      request.workers.configurations.push_back(
          wish.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
  }

  static Result<ExitCode> check(Context& context, const CheckRequest& request, CheckSession& session,
                                CheckTables& tables, const CheckRun& facts, const std::string& folder) {
    const std::string json_path = folder + "/" + std::string(kResultFile);
    std::error_code failed;
    if (!request.csv_path.empty()) {  // they are made again, of all
      std::filesystem::remove(json_path, failed);
      std::filesystem::remove(folder + "/" + std::string(kPageFile), failed);
    }
    ULPSCOPE_ASSIGN(CheckJson json, CheckJson::begin(json_path, facts));
    const auto take = [&](const CheckReport& report) {
      session.summary.add(report);
      json.add(report);
      if (std::max(report.forward, report.backward) == OutputStatus::error) remember(session, report);
      if (report.bad_data) session.lost.push_back(report.api + "  " + report.message);
    };
    if (!request.csv_path.empty()) ULPSCOPE_TRY(tables.read_done(take));
    std::vector<const CheckItem*> todo;
    Status status;
    Progress progress(Progress::style_for_stderr(context.quiet()), "checking", "APIs",
                      static_cast<int64_t>(session.plan.items.size() -
                                           std::min(tables.done_count(), session.plan.items.size())));
    const auto finished = [&](const CheckReport& report) -> Status {
      ULPSCOPE_TRY(tables.append(report));
      take(report);
      progress.add(1);
      return {};
    };
    for (const CheckItem& item : session.plan.items) {
      if (tables.is_done(item.id)) continue;
      if (item.skip.empty()) {
        todo.push_back(&item);
      } else if (status.ok()) {
        status = finished(skipped_report(item, item.skip));
      }
    }
    const auto ready = [&](const WorkerReady& worker) {
      session.device = worker.device;
      for (const std::string& notice : worker.notices) session.notices.push_back(notice);
    };
    if (status.ok()) status = run_workers(request.workers, todo, context.cancel(), ready, finished);
    if (!session.device.empty()) session.notices.push_back("device: " + session.device);
    const Status written = json.finish(session.summary, session.device, session.notices);
    if (!status.ok()) return status.error();
    ULPSCOPE_TRY(written);
    ULPSCOPE_ASSIGN(const std::string report, write_chosen_page(context, request.page, folder, kResultFile));
    say(context, session, tables, report);
    return exit_code_of(session.summary);
  }

  static void remember(CheckSession& session, const CheckReport& report) {
    for (const CheckOutput& output : report.outputs)
      if (output.status == OutputStatus::error) session.errors.push_back(output.name + "  " + output.message);
  }

  static ExitCode exit_code_of(const CheckSummary& summary) {
    if (summary.failed > 0) return ExitCode::finding;
    const bool nothing = summary.passed + summary.warned == 0;
    return nothing || summary.bad_data > 0 ? ExitCode::unreadable : ExitCode::success;
  }

  static void say_first(Context& context, std::string_view word, const std::vector<std::string>& lines,
                        std::string_view what) {
    for (size_t i = 0; i < std::min(lines.size(), kMostShown); ++i)
      context.out() << word << "  " << printable(lines[i]) << "\n";
    if (lines.size() > kMostShown)
      context.out() << "and " << count_text(static_cast<int64_t>(lines.size() - kMostShown)) << " more "
                    << what << "\n";
  }

  static void say(Context& context, const CheckSession& session, const CheckTables& tables,
                  const std::string& report) {
    for (const std::string& notice : session.notices) context.log().info(printable(notice));
    say_first(context, "error", session.errors, "outputs in error");
    say_first(context, "lost", session.lost, "APIs that could not be checked");
    const CheckSummary& summary = session.summary;
    if (summary.bad_data > 0)
      context.out() << count_text(summary.bad_data) << (summary.bad_data == 1 ? " API" : " APIs")
                    << " could not be checked: see "
                    << (summary.bad_data == 1 ? "its message" : "their messages") << " in "
                    << printable(tables.result_path()) << "\n";
    context.out() << "pass " << count_text(summary.passed) << "   warning " << count_text(summary.warned)
                  << "   error " << count_text(summary.failed) << "   skip " << count_text(summary.skipped)
                  << "   (APIs)   report  " << printable(report) << "\n";
  }

  bool multi_;
};

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(false); }
std::unique_ptr<Command> make_multi_check_command() { return std::make_unique<CheckCommand>(true); }

}  // namespace ulpscope
