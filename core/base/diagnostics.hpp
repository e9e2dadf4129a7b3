// What was found unusable in an input while the run went on. Collected from any thread; part of every report.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

enum class Severity : int32_t { notice, warning, error };
std::string_view to_text(Severity severity);

struct Diagnostic {
  Severity severity = Severity::warning;
  Code code = Code::format;
  std::string where;  // file with byte, line or member
  std::string text;
};

// Keeps the first kKeptPerCode of each code and counts the rest. Any thread.
class Diagnostics {
 public:
  static constexpr int64_t kKeptPerCode = 100;

  void add(Diagnostic diagnostic);
  void add(Severity severity, const Error& error, std::string_view where = {});
  // All that were added, kept or not.
  int64_t count() const;
  int64_t count(Severity severity) const;
  // A copy of those kept, in order of arrival.
  std::vector<Diagnostic> kept() const;

 private:
  mutable std::mutex mutex_;  // guards all members below
  std::vector<Diagnostic> kept_;
  std::array<int64_t, 8> per_code_{};
  std::array<int64_t, 3> per_severity_{};
};

}  // namespace ulpscope
