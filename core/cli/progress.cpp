#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "cli/output.hpp"

namespace ulpscope {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kBarInterval{200};
constexpr milliseconds kLineInterval{10'000};
constexpr int kBarWidth = 20;
constexpr double kLeastSeconds = 0.5;  // before that a rate says nothing

std::string time_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

void write_stderr(std::string_view text) {
  // Progress that cannot be shown is not worth an error.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string progress_text(const std::string& what, const std::string& unit, const ProgressState& state,
                          int bar_width) {
  const double by_bytes = state.total_bytes > 0
                              ? static_cast<double>(state.done_bytes) / static_cast<double>(state.total_bytes)
                              : 0;
  const double by_pieces =
      state.total > 0 ? static_cast<double>(state.done) / static_cast<double>(state.total) : 0;
  const double share = std::clamp(state.total_bytes > 0 ? by_bytes : by_pieces, 0.0, 1.0);
  std::string text = what + "  ";
  if (bar_width > 0) {
    const auto filled = static_cast<size_t>(share * bar_width);
    text +=
        "[" + std::string(filled, '#') + std::string(static_cast<size_t>(bar_width) - filled, '.') + "]  ";
  }
  text += fmt::format("{} of {} {}  {} %", count_text(state.done), count_text(state.total), unit,
                      static_cast<int>(share * 100));
  if (state.seconds < kLeastSeconds) return text;
  if (state.total_bytes > 0)
    text +=
        "  " + size_text(static_cast<uint64_t>(static_cast<double>(state.done_bytes) / state.seconds)) + "/s";
  else
    text += fmt::format("  {:.0f} {}/s", static_cast<double>(state.done) / state.seconds, unit);
  if (share > 0) text += "  " + time_text(state.seconds * (1 - share) / share) + " left";
  return text;
}

Progress::Style Progress::style_for_stderr(bool quiet) {
  if (quiet) return Style::none;
  return ::isatty(STDERR_FILENO) == 1 ? Style::bar : Style::lines;
}

Progress::Progress(Style style, std::string what, std::string unit, int64_t total, uint64_t total_bytes)
    : style_(style),
      what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      total_bytes_(total_bytes),
      start_(std::chrono::steady_clock::now()) {
  if (style_ != Style::none) thread_ = std::thread([this] { draw_until_stopped(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(stop_mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
  if (drawn_ && style_ == Style::bar) write_stderr("\r\x1b[K");
}

void Progress::draw_until_stopped() {
  const milliseconds interval = style_ == Style::bar ? kBarInterval : kLineInterval;
  std::unique_lock<std::mutex> lock(stop_mutex_);
  while (!stop_.wait_for(lock, interval, [this] { return stopping_; })) draw();
}

ProgressState Progress::state() const {
  return {done_.load(std::memory_order_relaxed), total_, done_bytes_.load(std::memory_order_relaxed),
          total_bytes_, std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count()};
}

void Progress::draw() {
  drawn_ = true;
  if (style_ == Style::lines) {
    write_stderr("ulpscope: " + progress_text(what_, unit_, state(), 0) + "\n");
    return;
  }
  const auto width = static_cast<size_t>(terminal_width(STDERR_FILENO, 80));
  std::string text = progress_text(what_, unit_, state(), kBarWidth);
  if (text.size() >= width) text.resize(width - 1);
  write_stderr("\r" + text + "\x1b[K");
}

}  // namespace ulpscope
