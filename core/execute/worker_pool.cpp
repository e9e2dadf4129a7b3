#include "execute/worker_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/text.hpp"
#include "execute/output_judge.hpp"

extern char** environ;

namespace ulpscope {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kPollMs = 100;
constexpr size_t kMostLineBytes = size_t{256} << 20;
constexpr std::string_view kEndedIn = "{\"ended_in\"";
constexpr int kMostStarts = 3;  // of workers that end before they are ready, one after the other

std::string dumped(const json& node) { return node.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string system_text(int error) { return std::generic_category().message(error); }

// A child process with pipes to its stdin and from its stdout.
class Process {
 public:
  static Result<std::unique_ptr<Process>> start(const std::vector<std::string>& command, bool show_errors) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0) return Error{Code::io, "a pipe: " + system_text(errno)};
    if (::pipe2(out, O_CLOEXEC) != 0) {
      const int error = errno;
      ::close(in[0]);
      ::close(in[1]);
      return Error{Code::io, "a pipe: " + system_text(error)};
    }
    pid_t pid = 0;
    const int failed = spawn(command, in[0], out[1], show_errors, pid);
    ::close(in[0]);
    ::close(out[1]);
    auto process = std::unique_ptr<Process>(new Process(pid, in[1], out[0]));
    if (failed != 0) {
      process->pid_ = 0;
      return Error{Code::io, "a worker cannot be started: " + command[0] + ": " + system_text(failed)};
    }
    return process;
  }

  ~Process() {
    if (to_ >= 0) ::close(to_);
    ::close(from_);
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int output() const { return from_; }
  void kill() const { ::kill(pid_, SIGKILL); }

  bool send(const std::string& line) const {
    const std::string text = line + "\n";
    size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t n = ::write(to_, text.data() + sent, text.size() - sent);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      sent += static_cast<size_t>(n);
    }
    return true;
  }

  // Reads what is there; false at the end.
  bool receive() {
    char block[65536];
    const ssize_t n = ::read(from_, block, sizeof block);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (n <= 0 || buffer_.size() > kMostLineBytes) return false;
    buffer_.append(block, static_cast<size_t>(n));
    return true;
  }
  std::optional<std::string> line() {
    const size_t end = buffer_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string text = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return text;
  }

  // Waits for the end of the process; how it ended.
  std::string end() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = 0;
    if (WIFSIGNALED(status))
      return fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return fmt::format("ended with code {}", WEXITSTATUS(status));
  }

 private:
  Process(pid_t pid, int to, int from) : pid_(pid), to_(to), from_(from) {}

  static int spawn(const std::vector<std::string>& command, int in, int out, bool show_errors, pid_t& pid) {
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (!show_errors) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const int failed = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed;
  }

  pid_t pid_ = 0;
  int to_ = -1, from_ = -1;
  std::string buffer_;
};

// Writing to a worker that has just died must not end the host.
class IgnoreBrokenPipe {
 public:
  IgnoreBrokenPipe() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before_);
  }
  ~IgnoreBrokenPipe() { ::sigaction(SIGPIPE, &before_, nullptr); }
  IgnoreBrokenPipe(const IgnoreBrokenPipe&) = delete;
  IgnoreBrokenPipe& operator=(const IgnoreBrokenPipe&) = delete;

 private:
  struct sigaction before_ = {};
};

struct Worker {
  std::unique_ptr<Process> process;  // null: to be started when there is work
  bool is_ready = false;
  const CheckItem* item = nullptr;  // what it works on
  Clock::time_point since;          // when it was started or given the item
  bool timed_out = false;
  std::string ended_in;  // the call of a plugin in which it said that it ends
};

class Pool {
 public:
  Pool(const WorkerOptions& options, const std::vector<const CheckItem*>& items, const Cancel& cancel,
       const std::function<void(const WorkerReady&)>& ready,
       const std::function<Status(const CheckReport&)>& report)
      : options_(options), items_(items), cancel_(cancel), ready_(ready), report_(report) {
    workers_.resize(std::min(static_cast<size_t>(options.count), items.size()));
  }

  Status run() {
    const IgnoreBrokenPipe ignore;
    while (finished_ < items_.size()) {
      if (cancel_.requested()) return Error{Code::cancelled, "stopped"};
      for (size_t i = 0; i < workers_.size(); ++i) ULPSCOPE_TRY(feed(i));
      ULPSCOPE_TRY(wait());
      for (Worker& worker : workers_) check_time(worker);
    }
    return {};
  }

 private:
  // Starts the worker, or gives it the next item.
  Status feed(size_t i) {
    Worker& worker = workers_[i];
    if (next_ == items_.size() && worker.item == nullptr) return {};
    if (!worker.process) {
      ULPSCOPE_ASSIGN(worker.process, Process::start(options_.command, options_.show_errors));
      worker.is_ready = worker.timed_out = false;
      worker.ended_in.clear();
      worker.since = Clock::now();
      worker.process->send(options_.configurations[i % options_.configurations.size()]);
    }
    if (!worker.is_ready || worker.item != nullptr) return {};
    worker.item = items_[next_++];
    worker.since = Clock::now();
    worker.process->send(to_line(*worker.item));  // a worker that is gone shows at its output
    return {};
  }

  Status wait() {
    std::vector<pollfd> ends;
    std::vector<size_t> which;
    for (size_t i = 0; i < workers_.size(); ++i)
      if (workers_[i].process) {
        ends.push_back({workers_[i].process->output(), POLLIN, 0});
        which.push_back(i);
      }
    if (::poll(ends.data(), ends.size(), kPollMs) <= 0) return {};
    for (size_t k = 0; k < ends.size(); ++k)
      if (ends[k].revents != 0) ULPSCOPE_TRY(read(workers_[which[k]]));
    return {};
  }

  Status read(Worker& worker) {
    const bool more = worker.process->receive();
    while (const auto line = worker.process->line()) ULPSCOPE_TRY(take(worker, *line));
    return more ? Status() : died(worker);
  }

  Status take(Worker& worker, const std::string& line) {
    if (line.starts_with(kEndedIn)) {
      const json node = json::parse(line, nullptr, false);
      if (node.is_object() && node["ended_in"].is_string())
        worker.ended_in = printable(node["ended_in"].get<std::string>());
      return {};
    }
    if (!worker.is_ready) return take_ready(worker, line);
    auto report = report_from_line(line);
    if (worker.item == nullptr) return {};
    const CheckItem& item = *std::exchange(worker.item, nullptr);
    ++finished_;
    if (!report.ok()) return report_(skipped_report(item, report.error().message));
    report->api = item.id;
    return report_(*report);
  }

  Status take_ready(Worker& worker, const std::string& line) {
    const json node = json::parse(line, nullptr, false);
    if (!node.is_object()) return {};
    if (node.contains("error") && node["error"].is_string())
      return Error{static_cast<Code>(node.value("code", static_cast<int>(Code::internal))),
                   node["error"].get<std::string>()};
    WorkerReady ready;
    ready.device = node.value("device", "");
    for (const json& notice : node.value("notices", json::array()))
      if (notice.is_string()) ready.notices.push_back(notice.get<std::string>());
    worker.is_ready = true;
    failed_starts_ = 0;
    if (!std::exchange(announced_, true)) ready_(ready);
    return {};
  }

  // A worker that ended by itself, or was ended: its item is lost, the next one gets a new worker.
  Status died(Worker& worker) {
    std::string how = worker.process->end();
    if (!worker.ended_in.empty()) how += " by " + worker.ended_in;
    worker.process.reset();
    const CheckItem* item = std::exchange(worker.item, nullptr);
    if (item == nullptr) {
      if (worker.is_ready || ++failed_starts_ < kMostStarts) return {};
      return Error{Code::internal, "the worker " + how + " before it was ready"};
    }
    ++finished_;
    CheckReport report = skipped_report(
        *item, worker.timed_out
                   ? fmt::format("it took more than {} s (--time-limit)", options_.time_limit.count())
                   : "the worker that ran it " + how);
    report.bad_data = true;
    return report_(report);
  }

  void check_time(Worker& worker) const {
    if (!worker.process || worker.timed_out) return;
    const bool busy = worker.item != nullptr;
    if (worker.is_ready && !busy) return;
    const auto limit = worker.is_ready ? options_.time_limit : options_.start_limit;
    if (Clock::now() - worker.since < limit) return;
    worker.timed_out = true;
    worker.process->kill();
  }

  const WorkerOptions& options_;
  const std::vector<const CheckItem*>& items_;
  const Cancel& cancel_;
  const std::function<void(const WorkerReady&)>& ready_;
  const std::function<Status(const CheckReport&)>& report_;
  std::vector<Worker> workers_;
  size_t next_ = 0, finished_ = 0;
  int failed_starts_ = 0;
  bool announced_ = false;
};

}  // namespace

Status run_workers(const WorkerOptions& options, const std::vector<const CheckItem*>& items,
                   const Cancel& cancel, const std::function<void(const WorkerReady&)>& ready,
                   const std::function<Status(const CheckReport&)>& report) {
  return Pool(options, items, cancel, ready, report).run();
}

std::string to_line(const CheckItem& item) {
  return dumped({{"id", item.id},
                 {"type", item.type},
                 {"api", item.api},
                 {"skip", item.skip},
                 {"forward", item.forward},
                 {"backward", item.backward}});
}

Result<CheckItem> item_from_line(std::string_view line) {
  const json node = json::parse(line, nullptr, false);
  try {
    CheckItem item;
    item.id = node.at("id").get<std::string>();
    item.type = node.at("type").get<std::string>();
    item.api = node.at("api").get<std::string>();
    item.skip = node.at("skip").get<std::string>();
    item.forward = node.at("forward").get<OpId>();
    item.backward = node.at("backward").get<OpId>();
    return item;
  } catch (const json::exception&) {
    return Error{Code::format, "a line that asks for no API: '" + printable(line.substr(0, 80)) + "'"};
  }
}

std::string ready_line(const WorkerReady& ready) {
  return dumped({{"device", ready.device}, {"notices", ready.notices}});
}

std::string failure_line(const Error& error) {
  return dumped({{"error", error.message}, {"code", static_cast<int>(error.code)}});
}

CheckReport skipped_report(const CheckItem& item, std::string message) {
  CheckReport report;
  report.api = item.id;
  report.forward = OutputStatus::skip;
  if (item.backward != kNoIndex) report.backward = OutputStatus::skip;
  report.outputs.push_back(skipped_output(item.id + ".forward.output.0", message));
  report.message = std::move(message);
  return report;
}

}  // namespace ulpscope
