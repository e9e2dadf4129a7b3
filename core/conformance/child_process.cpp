#include "conformance/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "base/text.hpp"

namespace ulpscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kDone = "done\n";
constexpr size_t kMostOutputBytes = size_t{1} << 20;

Error no_process() { return {Code::io, std::string("no process can be started: ") + std::strerror(errno)}; }

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// What a plugin prints is no part of the answer, and a core file of it is of no use.
void silence() {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0)
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, descriptor);
  const rlimit none = {0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) ::signal(signal, SIG_DFL);
}

// Reads what the child says until it ends or the time is over; false: the time is over.
bool listen(int descriptor, Clock::time_point end, std::string& heard) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd wait = {descriptor, POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    char buffer[4096];
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    if (heard.size() < kMostOutputBytes) heard.append(buffer, static_cast<size_t>(got));
  }
}

std::string fate_of(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = ::sigabbrev_np(WTERMSIG(status));
    return "crashed (" + (name == nullptr ? std::to_string(WTERMSIG(status)) : "SIG" + std::string(name)) +
           ")";
  }
  return "ended the process with exit code " + std::to_string(WEXITSTATUS(status));
}

struct Heard {
  std::string text;  // without the last word
  std::string fate;  // empty: it came back
};

// body(descriptor) writes what it has to say.
Result<Heard> run_forked(int limit_seconds, const std::function<void(int)>& body) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return no_process();
  const pid_t child = ::fork();
  if (child < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return no_process();
  }
  if (child == 0) {
    // A group of its own: what it starts ends with it.
    ::setpgid(0, 0);
    ::close(ends[0]);
    silence();
    body(ends[1]);
    write_all(ends[1], kDone);
    ::_exit(0);
  }
  ::close(ends[1]);
  Heard heard;
  const bool in_time = listen(ends[0], Clock::now() + std::chrono::seconds(limit_seconds), heard.text);
  ::close(ends[0]);
  if (!in_time) {
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);  // where its group did not come to be
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool done = heard.text.ends_with(kDone);
  if (done) heard.text.resize(heard.text.size() - kDone.size());
  if (!in_time)
    heard.fate = "did not come back within " + std::to_string(limit_seconds) + " s";
  else if (!done)
    heard.fate = fate_of(status);
  return heard;
}

}  // namespace

Result<std::vector<Finding>> run_in_child(const Check& check, const CheckSubject& subject) {
  const auto body = [&](int descriptor) {
    CheckFindings report(check.id);
    check.run(subject, report);
    // One line a finding; text made printable holds no tab and no line end.
    for (const Finding& finding : report.findings())
      write_all(descriptor, std::to_string(static_cast<int>(finding.level)) + "\t" +
                                printable(finding.component) + "\t" + printable(finding.text) + "\n");
  };
  ULPSCOPE_ASSIGN(const Heard heard, run_forked(check.limit_seconds, body));
  std::vector<Finding> findings;
  for (const std::string_view line : split(heard.text, '\n')) {
    const auto parts = split(line, '\t');
    if (parts.size() != 3 || parts[0].size() != 1) continue;
    findings.push_back({static_cast<FindingLevel>(parts[0][0] - '0'), std::string(check.id),
                        std::string(parts[1]), std::string(parts[2])});
  }
  if (!heard.fate.empty())
    findings.push_back({FindingLevel::error, std::string(check.id), "", "the check " + heard.fate});
  return findings;
}

Result<std::string> fate_in_child(int limit_seconds, const std::function<void()>& body) {
  ULPSCOPE_ASSIGN(Heard heard, run_forked(limit_seconds, [&](int) { body(); }));
  return std::move(heard.fate);
}

}  // namespace ulpscope
