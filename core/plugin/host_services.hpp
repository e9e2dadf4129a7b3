// What the host offers to its plugins: log, cancellation, workers. One object a run, made by the command line
// and given to the Registry; it must outlive every handle. It prints nothing itself.
#pragma once

#include <ulpscope/abi.h>

#include <functional>
#include <string>
#include <string_view>

#include "base/cancel.hpp"
#include "base/thread_pool.hpp"

namespace ulpscope {

enum class LogLevel : int32_t { debug, info, warning, error };

// Receives a message of a plugin. Called from any thread. The text is a stranger's: not yet safe for a
// terminal.
using LogFunction = std::function<void(LogLevel level, std::string_view text)>;

class HostServices {
 public:
  // Longer log texts are cut: a plugin cannot flood the log with one call.
  static constexpr size_t kMaxLogTextBytes = 64 * 1024;

  // log may be empty: then messages are dropped. version is the product version that plugins see.
  HostServices(ThreadPool& pool, const Cancel& cancel, LogFunction log, std::string version);
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  // The table that plugins receive; valid as long as this object. Any thread.
  const ulpscope_host* table() const { return &table_; }
  // The workers that plugins share with the host.
  ThreadPool& pool() const { return pool_; }
  // Logs as a plugin would. Any thread.
  void log(LogLevel level, std::string_view text) const;

 private:
  static void log_entry(void* ctx, int32_t level, ulpscope_str text);
  static int32_t cancelled_entry(void* ctx);
  static ulpscope_status parallel_for_entry(void* ctx, uint64_t n, void (*body)(void* arg, uint64_t i),
                                            void* arg);

  ThreadPool& pool_;
  const Cancel& cancel_;
  LogFunction log_;
  std::string version_;
  ulpscope_host table_;
};

}  // namespace ulpscope
