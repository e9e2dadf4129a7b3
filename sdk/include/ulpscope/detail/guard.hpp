// The error boundary of a plugin: what its code throws becomes a status and a message here, and nothing
// thrown passes on. Included by detail/tables.hpp, and useful to code that fills a C table by hand. C++17.
#pragma once

#include <ulpscope/types.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>

namespace ulpscope {

// Copies text into a fixed array of a C struct, cut to fit, always terminated.
template <size_t N>
void set_text(char (&dst)[N], std::string_view text) {
  const size_t n = std::min(text.size(), N - 1);
  std::copy_n(text.data(), n, dst);
  dst[n] = '\0';
}

namespace detail {

inline void fill(ulpscope_error* err, ulpscope_status code, const char* text) {
  if (err == nullptr) return;
  err->code = code;
  set_text(err->message, text);
}

// The whole error boundary: runs body, turns what it throws into a status and a message.
template <class F>
ulpscope_status guard(ulpscope_error* err, F body) noexcept {
  try {
    body();
    return ULPSCOPE_OK;
  } catch (const Failure& e) {
    const ulpscope_status code = e.code == ULPSCOPE_OK ? ULPSCOPE_E_INTERNAL : e.code;
    fill(err, code, e.what());
    return code;
  } catch (const std::bad_alloc&) {
    fill(err, ULPSCOPE_E_NO_MEMORY, "out of memory");
    return ULPSCOPE_E_NO_MEMORY;
  } catch (const std::exception& e) {
    fill(err, ULPSCOPE_E_INTERNAL, e.what());
    return ULPSCOPE_E_INTERNAL;
  } catch (...) {
    fill(err, ULPSCOPE_E_INTERNAL, "an exception of unknown type");
    return ULPSCOPE_E_INTERNAL;
  }
}

}  // namespace detail
}  // namespace ulpscope
