# ulpscope_add_plugin(NAME SOURCES FILE... [LINK TARGET...])
# Builds NAME.plugin.so, a module that exports the one symbol ulpscope_plugin_entry. LINK is for what the plugin itself
# uses; the SDK is linked already. The target is called NAME, so that further properties can be set on it.
#
# Inside ulpscope's own tree the same line also puts the module where the host looks for it, or compiles the plugin into
# the host (ULPSCOPE_PLUGINS=static); cmake/BuiltinPlugins.cmake holds that part.

# Sets result to whether this build instruments objects of NAME with a sanitizer.
function(ulpscope_is_sanitized name result)
  get_target_property(options ${name} COMPILE_OPTIONS)
  if("${CMAKE_CXX_FLAGS} ${CMAKE_C_FLAGS} ${options}" MATCHES "-fsanitize=")
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# The module and its link rules. The version script hides what hidden visibility alone lets through (template instances
# of std::), -z now and --no-undefined make a missing symbol an error of the load or of the link instead of a crash later.
function(ulpscope_add_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map)
  add_library(${name} MODULE ${ARG_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_17)
  set_target_properties(${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} SUFFIX .plugin.so
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${map})
  # No fused multiply-add of the compiler's choosing: the same plugin gives the same bits on every machine.
  target_compile_options(${name} PRIVATE -ffp-contract=off $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_options(${name} PRIVATE
    LINKER:-z,now LINKER:--exclude-libs,ALL LINKER:--version-script=${map})
  ulpscope_is_sanitized(${name} sanitized)
  # clang leaves the sanitizer's symbols to the executable.
  if(NOT (sanitized AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${name} PRIVATE LINKER:--no-undefined)
  endif()
  target_link_libraries(${name} PRIVATE Ulpscope::sdk ${ARG_LINK})
endfunction()

function(ulpscope_add_plugin name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "ulpscope_add_plugin: name '${name}', expected lower-case letters, digits and '_'")
  endif()
  if(NOT ARG_SOURCES OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ulpscope_add_plugin(${name}): expected SOURCES FILE... [LINK TARGET...]")
  endif()
  if(COMMAND ulpscope_add_builtin_plugin)
    ulpscope_add_builtin_plugin(${name} SOURCES ${ARG_SOURCES} LINK ${ARG_LINK})
  else()
    ulpscope_add_module(${name} SOURCES ${ARG_SOURCES} LINK ${ARG_LINK})
  endif()
endfunction()
