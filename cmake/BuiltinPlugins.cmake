# The plugins of this tree: modules beside the host (ULPSCOPE_PLUGINS=shared) or objects inside it (static). Entries of
# compiled-in plugins are collected and written into one array; nothing registers itself.

define_property(GLOBAL PROPERTY ULPSCOPE_BUILTIN_PLUGINS
  BRIEF_DOCS "Compiled-in plugins" FULL_DOCS "Names of the plugins whose objects go into the host")

# Behind ulpscope_add_plugin (sdk/cmake/UlpscopePlugin.cmake).
function(ulpscope_add_builtin_plugin name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(ULPSCOPE_PLUGINS STREQUAL "static")
    add_library(${name} OBJECT ${ARG_SOURCES})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # As ulpscope_add_module has it: the same numbers however a plugin is built.
    target_compile_options(${name} PRIVATE -ffp-contract=off $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
    target_compile_definitions(${name} PRIVATE ULPSCOPE_ENTRY=ulpscope_plugin_entry_${name})
    target_link_libraries(${name} PRIVATE Ulpscope::sdk ${ARG_LINK})
    set_property(GLOBAL APPEND PROPERTY ULPSCOPE_BUILTIN_PLUGINS ${name})
  else()
    ulpscope_add_module(${name} SOURCES ${ARG_SOURCES} LINK ${ARG_LINK})
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/ulpscope/plugins)
    set_property(GLOBAL APPEND PROPERTY ULPSCOPE_BUILTIN_MODULES ${name})
    install(TARGETS ${name} LIBRARY DESTINATION lib/ulpscope/plugins COMPONENT host)
  endif()
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE ulpscope_warnings)
endfunction()

# ulpscope_write_builtin_plugins(TARGET): a library that defines builtin_plugins() (core/plugin/builtin.hpp) and brings
# the compiled-in plugins along. To be called after every ulpscope_add_plugin.
function(ulpscope_write_builtin_plugins target)
  get_property(names GLOBAL PROPERTY ULPSCOPE_BUILTIN_PLUGINS)
  set(declarations "")
  set(entries "")
  foreach(name IN LISTS names)
    string(APPEND declarations "extern \"C\" const ulpscope_plugin* ulpscope_plugin_entry_${name}(void);\n")
    string(APPEND entries "      {\"${name}\", &ulpscope_plugin_entry_${name}},\n")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/builtin_plugins.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/builtin_plugins.cpp @ONLY)
  # An object library: a program that links it gets the objects of the plugins too, which no archive could drop.
  add_library(${target} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/builtin_plugins.cpp)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/core)
  target_link_libraries(${target} PRIVATE Ulpscope::sdk ulpscope_warnings)
  set_property(GLOBAL PROPERTY ULPSCOPE_BUILTIN_TARGETS ${target} ${names})
endfunction()

# ulpscope_use_builtin_plugins(PROGRAM) links the array and the compiled-in plugins into a program.
function(ulpscope_use_builtin_plugins program)
  get_property(targets GLOBAL PROPERTY ULPSCOPE_BUILTIN_TARGETS)
  target_link_libraries(${program} PRIVATE ${targets})
  if(ULPSCOPE_PLUGINS STREQUAL "shared")
    get_property(modules GLOBAL PROPERTY ULPSCOPE_BUILTIN_MODULES)
    if(modules)
      add_dependencies(${program} ${modules})
    endif()
  endif()
endfunction()
