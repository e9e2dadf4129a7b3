#include "cli/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <string>

#include "base/text.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      break;
  }
  return spdlog::level::err;
}

// Lines stay lines; everything else that a terminal would act on becomes visible.
std::string safe_lines(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    if (!out.empty()) out += "\n  ";
    out += printable(line);
  }
  return out;
}

}  // namespace

Log::Log(LogLevel least, LogFormat format) : format_(format) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  logger_ = std::make_unique<spdlog::logger>("ulpscope", std::move(sink));
  const char* pattern = format == LogFormat::json
                            ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","text":%v})"
                            : "ulpscope: %l: %v";
  logger_->set_formatter(
      std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
  logger_->set_level(to_spdlog(least));
  logger_->flush_on(spdlog::level::debug);
}

Log::~Log() = default;

void Log::write(LogLevel level, std::string_view text) {
  std::string line;
  if (format_ == LogFormat::json)
    append_json_string(line, text);
  else
    line = safe_lines(text);
  logger_->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace ulpscope
