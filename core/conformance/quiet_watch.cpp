#include "conformance/quiet_watch.hpp"

#include <fcntl.h>
#include <fenv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/text.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownBytes = 80;

size_t count_threads() {
  std::error_code error;
  size_t count = 0;
  fs::directory_iterator entry("/proc/self/task", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) ++count;
  return count;
}

std::string beginning_of(int file) {
  std::string text(kShownBytes, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

}  // namespace

QuietWatch::Surroundings::Surroundings()
    : locale(std::setlocale(LC_ALL, nullptr)), rounding(::fegetround()), threads(count_threads()) {
  std::error_code ignored;
  folder = fs::current_path(ignored).string();
}

QuietWatch::QuietWatch() {
  std::fflush(nullptr);
  file_ = ::memfd_create("printed", MFD_CLOEXEC);
  if (file_ < 0) return;
  output_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  errors_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::dup2(file_, STDOUT_FILENO);
  ::dup2(file_, STDERR_FILENO);
}

QuietWatch::~QuietWatch() {
  std::fflush(nullptr);
  for (const auto& [kept, stream] : {std::pair{output_, STDOUT_FILENO}, {errors_, STDERR_FILENO}}) {
    if (kept < 0) continue;
    ::dup2(kept, stream);
    ::close(kept);
  }
  if (file_ >= 0) ::close(file_);
}

void QuietWatch::report(const std::string& when, CheckFindings& report) const {
  const Surroundings after;
  std::fflush(nullptr);
  const std::string printed = file_ < 0 ? std::string() : beginning_of(file_);
  if (!printed.empty())
    report.error("prints " + when + " ('" + printable(printed) +
                 "'); a plugin writes nothing to the standard output and error");
  if (after.threads > before_.threads)
    report.error("starts " + std::to_string(after.threads - before_.threads) + " thread(s) " + when);
  if (after.locale != before_.locale) report.error("changes the locale to " + after.locale + " " + when);
  if (after.folder != before_.folder)
    report.error("changes the working folder to " + after.folder + " " + when);
  if (after.rounding != before_.rounding) report.error("changes the rounding mode of floating point " + when);
}

}  // namespace ulpscope
