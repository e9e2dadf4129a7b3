#include "cli/plugin_end.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/stray_output.hpp"
#include "cli/command.hpp"
#include "plugin/running_call.hpp"

namespace ulpscope {
namespace {

constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

constexpr int kMostEndingThreads = 64;

// The process whose command is running; 0 when it has come to its end. Children of fork() answer for
// themselves.
std::atomic<pid_t> running_process{0};
std::atomic<int> json_descriptor{-1};
struct sigaction actions_before[std::size(kCrashes)];

// Room for the handler where the stack of the thread is what ran out.
alignas(16) char handler_stack[65536];

void say(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// The running call as a line for the process that watches this one; file names may hold what JSON must not.
void say_as_json(int descriptor, std::string_view text) noexcept {
  if (descriptor < 0) return;
  say(descriptor, "{\"ended_in\": \"");
  for (const char& c : text) {
    const bool plain = static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
    say(descriptor, plain ? std::string_view(&c, 1) : "?");
  }
  say(descriptor, "\"}\n");
}

void say_crash(std::string_view who, int signal) noexcept {
  const char* name = ::sigabbrev_np(signal);
  spill_stray_output();
  for (const std::string_view part :
       {std::string_view("ulpscope: error: the plugin crashed: "), who, std::string_view(" (SIG"),
        std::string_view(name == nullptr ? "" : name),
        std::string_view("); 'ulpscope plugins check FILE' looks for the cause\n")})
    say(STDERR_FILENO, part);
}

// Leaves the signal to whom it went before; the instruction that crashed runs again and meets it.
void hand_back(int signal) noexcept {
  for (size_t i = 0; i < std::size(kCrashes); ++i)
    if (kCrashes[i] == signal) ::sigaction(signal, &actions_before[i], nullptr);
}

bool is_left_to_others(int signal) noexcept {
  for (size_t i = 0; i < std::size(kCrashes); ++i)
    if (kCrashes[i] == signal) return actions_before[i].sa_handler != SIG_DFL;
  return true;
}

// Threads may crash or call exit() at once, in one plugin or two: the first of them speaks, the others wait
// for the end.
void wait_for_first_end() noexcept {
  static std::atomic<pid_t> first{0};
  pid_t nobody = 0;
  const pid_t self = ::gettid();
  if (first.compare_exchange_strong(nobody, self) || nobody == self) return;
  while (true) ::pause();
}

extern "C" void on_crash(int signal, siginfo_t* info, void* /*context*/) {
  wait_for_first_end();
  char who[1024];
  const size_t length = running_process == ::getpid() ? running_call_text(who, sizeof who) : 0;
  const int watcher = json_descriptor;
  if (length > 0) {
    say_crash({who, length}, signal);
    say_as_json(watcher, {who, length});
    if (watcher < 0 && !is_left_to_others(signal)) ::_exit(static_cast<int>(ExitCode::internal));
  }
  hand_back(signal);
  // Sent by kill() or abort(), not by an instruction that will fail again.
  if (info->si_code <= 0) ::raise(signal);
}

extern "C" void refuse_early_end() {
  if (running_process != ::getpid()) return;
  wait_for_first_end();
  char who[1024];
  const size_t length = running_call_text(who, sizeof who);
  spill_stray_output();
  say(STDERR_FILENO, "ulpscope: error: ");
  say(STDERR_FILENO, length > 0 ? std::string_view(who, length) : "a plugin or library");
  say(STDERR_FILENO, " ended the process\n");
  if (length > 0) say_as_json(json_descriptor, {who, length});
  ::_exit(static_cast<int>(ExitCode::internal));
}

}  // namespace

void watch_for_plugin_ends() {
  running_process = ::getpid();
  // exit() takes each handler once: a second thread that calls it needs one of its own to be held by.
  for (int i = 0; i < kMostEndingThreads; ++i) {
    std::atexit(refuse_early_end);
    std::at_quick_exit(refuse_early_end);
  }
  stack_t before = {};
  if (::sigaltstack(nullptr, &before) == 0 && (before.ss_flags & SS_DISABLE) != 0) {
    stack_t own = {};
    own.ss_sp = handler_stack;
    own.ss_size = sizeof handler_stack;
    ::sigaltstack(&own, nullptr);
  }
  struct sigaction action = {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (size_t i = 0; i < std::size(kCrashes); ++i) ::sigaction(kCrashes[i], &action, &actions_before[i]);
}

void stop_watching() { running_process = 0; }

void report_crashes_to(int descriptor) { json_descriptor = descriptor; }

}  // namespace ulpscope
