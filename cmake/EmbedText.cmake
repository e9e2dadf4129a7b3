# ulpscope_embed_text(TARGET FILE NAME HEADER): compiles a text file into TARGET as `constexpr std::string_view NAME` of the
# generated header HEADER, so that the program needs no data file beside it.
function(ulpscope_embed_text target file name header)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/generated/${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  file(CONFIGURE OUTPUT ${output} CONTENT "// Generated from a text file of the source tree.
#pragma once

#include <string_view>

// A text may be longer than the least that every compiler must take.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored \"-Woverlength-strings\"
#endif

namespace ulpscope {

constexpr std::string_view ${name} = R\"ulpscope_text(@text@)ulpscope_text\";

}  // namespace ulpscope

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
" @ONLY)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
endfunction()
