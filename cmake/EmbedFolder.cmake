# ulpscope_embed_folder(TARGET FOLDER NAME HEADER): compiles the text files of a folder into TARGET as an array NAME of
# TemplateFile {path, text} of the generated header HEADER.
function(ulpscope_embed_folder target folder name header)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/generated/${header})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*)
  list(SORT files)
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
    file(READ ${folder}/${file} text)
    string(APPEND entries "    {\"${file}\", R\"ulpscope_text(${text})ulpscope_text\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "// Generated from a folder of the source tree.
#pragma once

#include \"cli/template_file.hpp\"

// A text may be longer than the least that every compiler must take.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored \"-Woverlength-strings\"
#endif

namespace ulpscope {

constexpr TemplateFile ${name}[] = {
@entries@};

}  // namespace ulpscope

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
" @ONLY)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
endfunction()
