// Errors as values. Everything below core/cli answers with Result<T>; exceptions are for bugs and memory.
// The codes are those of ulpscope_status, so that an error passes the plugin boundary without translation.
#pragma once

#include <ulpscope/abi.h>

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace ulpscope {

enum class Code : int32_t {
  usage = ULPSCOPE_E_USAGE,
  io = ULPSCOPE_E_IO,
  format = ULPSCOPE_E_FORMAT,
  unsupported = ULPSCOPE_E_UNSUPPORTED,
  cancelled = ULPSCOPE_E_CANCELLED,
  no_memory = ULPSCOPE_E_NO_MEMORY,
  internal = ULPSCOPE_E_INTERNAL,
};

// The word for a code in reports: "usage", "io", "format", ….
std::string_view to_text(Code code);

// What went wrong: thing, place and what was expected; no full stop at the end.
struct Error {
  Code code = Code::internal;
  std::string message;

  // The same error with context put in front: "golden: rank1/dump.json: …".
  Error within(std::string_view context) && { return {code, std::string(context) + ": " + message}; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T held) : state_(std::in_place_index<0>, std::move(held)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & {
    assert(ok());
    return std::get<0>(state_);
  }
  const T& value() const& {
    assert(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    assert(ok());
    return std::get<0>(std::move(state_));
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  const Error& error() const& {
    assert(!ok());
    return std::get<1>(state_);
  }
  Error&& error() && {
    assert(!ok());
    return std::get<1>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& {
    assert(!ok());
    return *error_;
  }
  Error&& error() && {
    assert(!ok());
    return *std::move(error_);
  }

 private:
  std::optional<Error> error_;
};
using Status = Result<void>;

}  // namespace ulpscope

#define ULPSCOPE_CONCAT_(a, b) a##b
#define ULPSCOPE_CONCAT(a, b) ULPSCOPE_CONCAT_(a, b)

// Returns the error of expr from the enclosing function, if there is one.
#define ULPSCOPE_TRY(expr)                                                                                  \
  do {                                                                                                      \
    if (auto ulpscope_status_ = (expr); !ulpscope_status_.ok()) return std::move(ulpscope_status_).error(); \
  } while (false)

// Declares var with the value of expr, or returns its error from the enclosing function.
#define ULPSCOPE_ASSIGN(var, expr) ULPSCOPE_ASSIGN_(var, expr, ULPSCOPE_CONCAT(ulpscope_result_, __LINE__))
#define ULPSCOPE_ASSIGN_(var, expr, tmp)        \
  auto tmp = (expr);                            \
  if (!tmp.ok()) return std::move(tmp).error(); \
  var = std::move(tmp).value()
