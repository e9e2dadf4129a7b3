# ULPSCOPE_PORTABLE=ON makes the program of the tarball, which a bare system can run: the libraries of third parties, the
# runtime of C++ among them, are linked in, so that nothing is needed but glibc. Which glibc is kept low by
# tests/packages/symbol_versions.py. A library of which Debian has no archive comes along in lib/ulpscope
# (ulpscope_bundle_libraries). Plugins that are loaded later may use a libstdc++ of their own: only C crosses.
option(ULPSCOPE_PORTABLE "Link the libraries of third parties into the program, for a tarball that runs anywhere" OFF)
if(NOT ULPSCOPE_PORTABLE)
  return()
endif()
# Not as an archive: xlsxwriter brings this library along anyway.
find_library(OPENSSL_CRYPTO_LIBRARY crypto)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
set(Boost_USE_STATIC_LIBS ON)
# What nothing calls is left out: the random_device of Debian 12's libstdc++ would ask for glibc 2.36.
add_link_options(-static-libstdc++ -static-libgcc LINKER:--gc-sections)

# To be called when the libraries are found. A package that names its shared library is led to an archive: Debian's own, or
# one made here of the sources that its headers bring along. Objects stay the same as in other builds.
function(ulpscope_use_archives)
  get_target_property(library yaml-cpp IMPORTED_LOCATION_NONE)
  string(REGEX REPLACE "\\.so.*$" ".a" library "${library}")
  if(NOT EXISTS "${library}")
    message(FATAL_ERROR "ULPSCOPE_PORTABLE: expected an archive of yaml-cpp at '${library}'")
  endif()
  set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION_NONE ${library})

  set(sources ${PROJECT_SOURCE_DIR}/cmake/portable)
  add_library(ulpscope_fmt STATIC ${sources}/fmt.cpp)
  target_compile_features(ulpscope_fmt PRIVATE cxx_std_20)
  set_target_properties(fmt::fmt PROPERTIES IMPORTED_LOCATION_NONE ${CMAKE_CURRENT_BINARY_DIR}/libulpscope_fmt.a)
  set_target_properties(ulpscope_fmt PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  add_dependencies(fmt::fmt ulpscope_fmt)

  # ICU's tables of characters and scripts are code; its 30 MB of data serve locales and converters, which nothing here uses.
  add_library(ulpscope_icu_data STATIC ${sources}/icu_data.cpp)
  set_property(TARGET ICU::uc APPEND PROPERTY INTERFACE_LINK_LIBRARIES ulpscope_icu_data)
endfunction()

# ulpscope_bundle_libraries(PROGRAM) lets PROGRAM find libraries in lib/ulpscope beside its bin/, and installs there what it
# needs beyond glibc.
function(ulpscope_bundle_libraries program)
  # The older tag, RPATH, also serves the libraries that a bundled library needs.
  target_link_options(${program} PRIVATE LINKER:--disable-new-dtags)
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/ulpscope")
  install(CODE "
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES \"$<TARGET_FILE:${program}>\" RESOLVED_DEPENDENCIES_VAR libraries
      PRE_EXCLUDE_REGEXES \"^lib(c|m|dl|pthread|rt)\\\\.so\" \"^ld-linux\" \"^linux-vdso\")
    foreach(library IN LISTS libraries)
      file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/ulpscope\" TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN
        FILES \"\${library}\")
    endforeach()" COMPONENT host)
endfunction()
