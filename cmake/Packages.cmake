# Packages by `cpack` in a build folder (scripts/package.sh): the program, the SDK, and (where it is built) the torch executor
# as .deb files of their own; in a build with ULPSCOPE_PORTABLE instead a tarball of program and SDK that runs where it is unpacked.
set(CPACK_PACKAGE_NAME ulpscope)
set(CPACK_PACKAGE_VENDOR ulpscope)
set(CPACK_PACKAGE_CONTACT "ulpscope maintainers <maintainers@ulpscope.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "find the operation at fault between two dumps of one model")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
if(ULPSCOPE_PORTABLE)
  set(CPACK_GENERATOR TGZ)
  set(CPACK_PACKAGING_INSTALL_PREFIX /)
  string(TOLOWER ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} CPACK_SYSTEM_NAME)
else()
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_COMPONENT_HOST_DESCRIPTION "ulpscope compares dumps of intermediate tensors from two devices, builds or
 versions of a model, and names the operation, tensor, step and rank at
 fault, with a report behind it.")
set(CPACK_DEBIAN_HOST_PACKAGE_NAME ulpscope)
set(CPACK_COMPONENT_SDK_DESCRIPTION "Headers, CMake package, reader library, templates and examples for
 plugins of ulpscope: sources, judgements and executors.")
set(CPACK_DEBIAN_SDK_PACKAGE_NAME libulpscope-dev)
set(CPACK_DEBIAN_SDK_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_SDK_PACKAGE_SUGGESTS "ulpscope, libfmt-dev, nlohmann-json3-dev, libssl-dev, zlib1g-dev, libdeflate-dev")
set(CPACK_COMPONENT_TORCH_DESCRIPTION "Runs recorded operations again with LibTorch, for ulpscope check and replay.")
set(CPACK_DEBIAN_TORCH_PACKAGE_NAME ulpscope-torch)
set(CPACK_DEBIAN_TORCH_PACKAGE_DEPENDS ulpscope)
foreach(component host sdk torch)
  string(TOUPPER ${component} name)
  set(CPACK_COMPONENT_${name}_GROUP ${component})
endforeach()

# What a Debian package must have: who may copy it, and what changed.
set(documents ${CMAKE_CURRENT_BINARY_DIR}/packages)
file(WRITE ${documents}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ulpscope

Files: *
Copyright: 2026 the authors of ulpscope
License: Apache-2.0
 On Debian systems the full text of the Apache License version 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
")
file(WRITE ${documents}/changelog "ulpscope (${PROJECT_VERSION}) unstable; urgency=medium

  * Release ${PROJECT_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  Sun, 29 Nov 2026 00:00:00 +0000
")
find_program(ULPSCOPE_GZIP gzip REQUIRED)
execute_process(COMMAND ${ULPSCOPE_GZIP} -9nkf ${documents}/changelog)
set(packages host:ulpscope sdk:libulpscope-dev)
if(ULPSCOPE_HAS_TORCH)
  list(APPEND packages torch:ulpscope-torch)
endif()
foreach(package IN LISTS packages)
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 component)
  list(GET package 1 name)
  install(FILES ${documents}/changelog.gz ${documents}/copyright DESTINATION share/doc/${name} COMPONENT ${component})
endforeach()
install(DIRECTORY examples/dumps DESTINATION share/ulpscope/examples COMPONENT host)

# Whose code is inside the portable program, and under which terms; a package of Debian names them by its dependencies.
if(ULPSCOPE_PORTABLE)
  install(FILES LICENSE DESTINATION share/doc/ulpscope COMPONENT host)
  foreach(library libboost-program-options-dev libdeflate-dev libeigen3-dev libfmt-dev libhwy-dev libicu-dev libminizip1 libspdlog-dev
          libsqlite3-dev libssl-dev libstdc++6 libxlsxwriter-dev libxxhash-dev libyaml-cpp-dev nlohmann-json3-dev rapidjson-dev zlib1g-dev)
    if(EXISTS /usr/share/doc/${library}/copyright)
      install(FILES /usr/share/doc/${library}/copyright DESTINATION share/doc/ulpscope/libraries
        RENAME ${library}.txt COMPONENT host)
    endif()
  endforeach()
endif()
include(CPack)
