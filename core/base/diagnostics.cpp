#include "base/diagnostics.hpp"

#include <utility>

namespace ulpscope {

std::string_view to_text(Severity severity) {
  switch (severity) {
    case Severity::notice:
      return "notice";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "error";
}

void Diagnostics::add(Diagnostic diagnostic) {
  const std::lock_guard lock(mutex_);
  ++per_severity_[static_cast<size_t>(diagnostic.severity)];
  const auto code = static_cast<size_t>(diagnostic.code);
  if (per_code_[code < per_code_.size() ? code : 0]++ < kKeptPerCode) kept_.push_back(std::move(diagnostic));
}

void Diagnostics::add(Severity severity, const Error& error, std::string_view where) {
  add({severity, error.code, std::string(where), error.message});
}

int64_t Diagnostics::count() const {
  const std::lock_guard lock(mutex_);
  return per_severity_[0] + per_severity_[1] + per_severity_[2];
}

int64_t Diagnostics::count(Severity severity) const {
  const std::lock_guard lock(mutex_);
  return per_severity_[static_cast<size_t>(severity)];
}

std::vector<Diagnostic> Diagnostics::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

}  // namespace ulpscope
