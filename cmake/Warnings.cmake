# One warning set for everything of ours. clang counts sign conversions as part of -Wconversion and g++ does not: the
# narrower meaning holds for both. g++ 12 reports -Wrestrict for a plain "text" + std::string (GCC bug 105651).
add_library(ulpscope_warnings INTERFACE)
target_compile_options(ulpscope_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${ULPSCOPE_WERROR}>:-Werror>)
