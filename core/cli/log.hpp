// The log of the program: lines for a person (or, with --log-format json, for a machine) on stderr. Used by
// the command line only; what lies below answers with errors and diagnostics instead. Any thread.
#pragma once

#include <memory>
#include <string_view>

#include "plugin/host_services.hpp"

namespace spdlog {
class logger;
}

namespace ulpscope {

enum class LogFormat { text, json };

class Log {
 public:
  // Writes lines of least and above. Control characters of strangers' text are made visible.
  Log(LogLevel least, LogFormat format);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void debug(std::string_view text) { write(LogLevel::debug, text); }
  void info(std::string_view text) { write(LogLevel::info, text); }
  void warning(std::string_view text) { write(LogLevel::warning, text); }
  void error(std::string_view text) { write(LogLevel::error, text); }
  void write(LogLevel level, std::string_view text);

 private:
  LogFormat format_;
  std::unique_ptr<spdlog::logger> logger_;
};

}  // namespace ulpscope
