# ulpscope_library(NAME [DEPENDS TARGET...] [PRIVATE TARGET...])
# A static, position-independent library of every .cpp of the current folder. DEPENDS is the list of what its headers may
# use, PRIVATE of what only its sources may use: together they are the whole of what the library can see.
function(ulpscope_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core> $<INSTALL_INTERFACE:include/ulpscope/library>)
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:ulpscope_warnings>)
endfunction()

# ulpscope_unit_test(AREA TARGET...) builds tests/unit/AREA/*.cpp into one program and registers it as unit.AREA. It runs in the
# top folder: the path of the test data is relative, so that clones compile the same objects.
function(ulpscope_unit_test area)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/${area}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(unit_${area} ${sources} $<TARGET_OBJECTS:doctest_main>)
  target_compile_features(unit_${area} PRIVATE cxx_std_20)
  target_include_directories(unit_${area} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
  target_compile_definitions(unit_${area} PRIVATE ULPSCOPE_TEST_DATA="tests/data")
  target_link_libraries(unit_${area} PRIVATE ${ARGN} ulpscope_warnings)
  add_test(NAME unit.${area} COMMAND unit_${area} --minimal WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(unit.${area} PROPERTIES LABELS unit)
endfunction()
