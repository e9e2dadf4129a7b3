// Today's interface against the one that was released: what 1.0 had stands where it stood.
#include <stddef.h>
#include <stdint.h>

#include <cstddef>
#include <type_traits>

#include <doctest/doctest.h>

namespace released {
#include "1_0/ulpscope/abi.h"
}  // namespace released

// The kept header and today's have one guard and the same macros.
constexpr unsigned kReleasedMajor = ULPSCOPE_ABI_MAJOR, kReleasedMinor = ULPSCOPE_ABI_MINOR,
                   kReleasedBlock = ULPSCOPE_BLOCK;
#undef ULPSCOPE_ABI_H
#undef ULPSCOPE_ABI_MAJOR
#undef ULPSCOPE_ABI_MINOR
#undef ULPSCOPE_BLOCK
#undef ULPSCOPE_EXPORT
#undef ULPSCOPE_PLUGIN_MARK
#include <ulpscope/abi.h>

// Structures may grow at their end; members keep place and size, and values their number.
#define SIZE(T)                                      \
  static_assert(sizeof(released::T) <= sizeof(::T)); \
  static_assert(alignof(released::T) == alignof(::T));
#define MEMBER(T, m)                                           \
  static_assert(offsetof(released::T, m) == offsetof(::T, m)); \
  static_assert(sizeof(released::T::m) == sizeof(::T::m));
#define VALUE(v) static_assert(static_cast<long>(released::v) == static_cast<long>(::v));
#include "members_1_0.inc"
#undef SIZE
#undef MEMBER
#undef VALUE

TEST_CASE("abi: the version goes up where the interface grows") {
  CHECK(kReleasedMajor == 1);
  CHECK(kReleasedMinor == 0);
  CHECK(ULPSCOPE_ABI_MAJOR == kReleasedMajor);
  CHECK(ULPSCOPE_BLOCK == kReleasedBlock);
  const bool has_grown = sizeof(ulpscope_plugin) > sizeof(released::ulpscope_plugin) ||
                         sizeof(ulpscope_source_desc) > sizeof(released::ulpscope_source_desc) ||
                         sizeof(ulpscope_judgement_desc) > sizeof(released::ulpscope_judgement_desc) ||
                         sizeof(ulpscope_executor_desc) > sizeof(released::ulpscope_executor_desc) ||
                         sizeof(ulpscope_host) > sizeof(released::ulpscope_host);
  CHECK((ULPSCOPE_ABI_MINOR > kReleasedMinor) == has_grown);
}
