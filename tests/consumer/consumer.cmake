# Run by ctest: see CMakeLists.txt for the variables.
cmake_minimum_required(VERSION 3.20)

# Runs a command that must succeed; what it printed is shown only when it does not.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

string(REPLACE "|" ";" compilers "${COMPILERS}")
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --component sdk --prefix ${WORK}/prefix)

foreach(header abi.h types.hpp plugin.hpp half.hpp elementwise.hpp detail/tables.hpp)
  if(NOT EXISTS ${WORK}/prefix/include/ulpscope/${header})
    message(FATAL_ERROR "include/ulpscope/${header} was not installed")
  endif()
endforeach()

foreach(compiler IN LISTS compilers)
  get_filename_component(compiler_name ${compiler} NAME)
  set(plugins ${WORK}/${compiler_name}/plugins)
  foreach(example raw_dir sum_err relu)
    set(build ${WORK}/${compiler_name}/${example})
    run(${CMAKE_COMMAND} -S ${WORK}/prefix/share/ulpscope/examples/${example} -B ${build} -G ${GENERATOR}
      -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_BUILD_TYPE=Release
      "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror")
    run(${CMAKE_COMMAND} --build ${build})
    execute_process(COMMAND ${NM} -D --defined-only --format=posix ${build}/${example}.plugin.so OUTPUT_VARIABLE symbols)
    if(NOT symbols MATCHES "^ulpscope_plugin_entry T [0-9a-f]+ *[0-9a-f]*\n$")
      message(FATAL_ERROR "${example} (${compiler_name}) exports, expected ulpscope_plugin_entry alone:\n${symbols}")
    endif()
    file(COPY ${build}/${example}.plugin.so DESTINATION ${plugins})
  endforeach()
  run(${RUN} ${plugins} ${WORK}/${compiler_name}/dump)
endforeach()

list(GET compilers 0 compiler)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${TESTS}/needs_next_major -B ${WORK}/needs_next_major -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${compiler} RESULT_VARIABLE failed ERROR_VARIABLE output OUTPUT_QUIET)
if(NOT failed)
  message(FATAL_ERROR "find_package(UlpscopeSDK 2) found the SDK of ABI 1")
endif()
if(NOT output MATCHES "UlpscopeSDKConfig.cmake, version: 1\\.0\\.0")
  message(FATAL_ERROR "find_package(UlpscopeSDK 2) failed for another reason than the version:\n${output}")
endif()
file(REMOVE_RECURSE ${WORK})
