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

# The plugins of docs/writing-a-judgement.md and docs/writing-an-executor.md, word for word: the first cmake and the first
# cpp block of each.
foreach(block judgement:cmake:bias/CMakeLists.txt judgement:cpp:bias/bias.cpp executor:cmake:exact_silu/CMakeLists.txt
    executor:cpp:exact_silu/exact_silu.cpp)
  string(REPLACE ":" ";" block ${block})
  list(GET block 0 kind)
  list(GET block 1 language)
  list(GET block 2 file)
  file(GLOB page ${DOCS}/writing-a*-${kind}.md)
  file(READ ${page} text)
  string(FIND "${text}" "```${language}\n" start)
  string(LENGTH "```${language}\n" skipped)
  math(EXPR start "${start} + ${skipped}")
  string(SUBSTRING "${text}" ${start} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  file(WRITE ${WORK}/documented/${file} "${text}")
endforeach()

foreach(compiler IN LISTS compilers)
  get_filename_component(compiler_name ${compiler} NAME)
  set(plugins ${WORK}/${compiler_name}/plugins)
  foreach(example raw_dir sum_err relu bias exact_silu)
    set(build ${WORK}/${compiler_name}/${example})
    set(source ${WORK}/prefix/share/ulpscope/examples/${example})
    if(EXISTS ${WORK}/documented/${example})
      set(source ${WORK}/documented/${example})
    endif()
    run(${CMAKE_COMMAND} -S ${source} -B ${build} -G ${GENERATOR}
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
  run(${PROGRAM} plugins check ${plugins}/bias.plugin.so)
  run(${PROGRAM} plugins check ${plugins}/exact_silu.plugin.so)
  run(${PROGRAM} replay ${DOCS}/../examples/dumps/target --op Functional.silu.0.forward --executor exact_silu
    --plugin-path ${plugins})

  # Frameworks that the host does not know, each built against the installed SDK alone.
  foreach(example sglang_dumper onnx_node_dumps topk_kl)
    set(build ${WORK}/${compiler_name}/${example})
    set(source ${WORK}/prefix/share/ulpscope/examples/${example})
    run(${CMAKE_COMMAND} -S ${source} -B ${build} -G ${GENERATOR}
      -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_BUILD_TYPE=Release
      "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror")
    run(${CMAKE_COMMAND} --build ${build})
    set(sample)
    if(EXISTS ${source}/sample)
      set(sample --dump ${source}/sample)
    endif()
    run(${PROGRAM} plugins check ${build}/${example}.plugin.so ${sample})
  endforeach()
endforeach()
set(examples ${WORK}/prefix/share/ulpscope/examples)
list(GET compilers 0 compiler)
get_filename_component(compiler_name ${compiler} NAME)
foreach(example sglang_dumper onnx_node_dumps)
  run(${PROGRAM} compare ${examples}/${example}/sample ${examples}/${example}/sample -o ${WORK}/out/${example}
    --plugin-path ${WORK}/${compiler_name}/${example})
endforeach()

list(GET compilers 0 compiler)
# What `plugins new` makes builds and passes the conformance kit as it is.
foreach(kind source judgement executor)
  set(folder ${WORK}/new/my_${kind})
  run(${PROGRAM} plugins new ${kind} my_${kind} -o ${WORK}/new)
  run(${CMAKE_COMMAND} -S ${folder} -B ${folder}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DULPSCOPE=${PROGRAM} -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror")
  run(${CMAKE_COMMAND} --build ${folder}/build)
  execute_process(COMMAND ${CTEST} --test-dir ${folder}/build --output-on-failure RESULT_VARIABLE failed OUTPUT_VARIABLE output)
  if(failed OR NOT output MATCHES "100% tests passed, 0 tests failed out of 1")
    message(FATAL_ERROR "plugins new ${kind}\n${output}")
  endif()
endforeach()
run(${PROGRAM} compare ${WORK}/new/my_source/sample ${WORK}/new/my_source/sample --plugin-path ${WORK}/new/my_source/build
  -o ${WORK}/new/out)

execute_process(COMMAND ${CMAKE_COMMAND} -S ${TESTS}/needs_next_major -B ${WORK}/needs_next_major -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${compiler} RESULT_VARIABLE failed ERROR_VARIABLE output OUTPUT_QUIET)
if(NOT failed)
  message(FATAL_ERROR "find_package(UlpscopeSDK 2) found the SDK of ABI 1")
endif()
if(NOT output MATCHES "UlpscopeSDKConfig.cmake, version: 1\\.0\\.0")
  message(FATAL_ERROR "find_package(UlpscopeSDK 2) failed for another reason than the version:\n${output}")
endif()
file(REMOVE_RECURSE ${WORK})
