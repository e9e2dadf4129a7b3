# One warning set for everything of ours. clang counts sign conversions as part of -Wconversion and g++ does not: the
# narrower meaning holds for both.
add_library(ulpscope_warnings INTERFACE)
target_compile_options(ulpscope_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
  $<$<BOOL:${ULPSCOPE_WERROR}>:-Werror>)
