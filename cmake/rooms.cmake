# A room is one folder under tutti/: a library of its sources and one test program of its *_test.cc
# files. USES names the rooms that it may include; test/layering_test.cc checks every #include.

# Warnings apply to this build only: users of the installed libraries choose their own.
add_library(tutti_options INTERFACE)
target_include_directories(tutti_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(tutti_options INTERFACE cxx_std_20)
target_compile_options(tutti_options INTERFACE $<BUILD_INTERFACE:-Wall> $<BUILD_INTERFACE:-Wextra>
  $<BUILD_INTERFACE:-Wpedantic> $<BUILD_INTERFACE:-Wshadow> $<BUILD_INTERFACE:-Wnon-virtual-dtor>)
# Failed checks name files of the repository, not of the computer that built them; caches of compilers profit too.
target_compile_options(tutti_options INTERFACE
  $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # gcc 12 sees overlapping copies in string concatenation where there are none (GCC bug 105651).
  target_compile_options(tutti_options INTERFACE $<BUILD_INTERFACE:-Wno-restrict>)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(tutti_options INTERFACE $<BUILD_INTERFACE:-Werror=thread-safety>)
endif()
if(TUTTI_SANITIZE)
  target_compile_options(tutti_options INTERFACE -fsanitize=${TUTTI_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(tutti_options INTERFACE -fsanitize=${TUTTI_SANITIZE})
endif()

# Most of the compile time goes into headers that many sources share. So sources of one folder are compiled together,
# twelve at a time: names in their anonymous namespaces must differ.
function(tutti_unity target)
  if(NOT TUTTI_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  # These tell of what they do in words that their neighbours use too, or are warned of when they are included.
  list(FILTER sources EXCLUDE REGEX "(train/doppler/real_stage|starpu/watchdog|tools/run_report)[.]cc$")
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    # Relative, so that a compiler cache serves checkouts in other folders too.
    string(REPLACE "${CMAKE_SOURCE_DIR}/" "" folder "${folder}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    math(EXPR count_${folder} "0${count_${folder}} + 1")
    math(EXPR part "${count_${folder}} / 12")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}_${part}")
  endforeach()
endfunction()

# Test code is not optimised: most of the compile time would go into GoogleTest.
set(TUTTI_TEST_OPTIONS -O0)

# GoogleTest's header is parsed once for all test programs.
function(tutti_test_options target)
  target_compile_options(${target} PRIVATE ${TUTTI_TEST_OPTIONS})
  if(TUTTI_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM tutti_test_headers)
  endif()
endfunction()

function(tutti_room name)
  cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES" ${ARGN})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/(torch|starpu)/")  # libraries of their own
  if(NOT TUTTI_HAVE_CUDA)
    list(FILTER sources EXCLUDE REGEX "/cuda/")
  endif()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  add_library(tutti_${name} STATIC ${sources})
  tutti_unity(tutti_${name})
  # Rooms are also linked into libtutti.so (cmake/library.cmake). Hidden names are called as in a program, at no cost.
  if(NOT name MATCHES "^(calibrate|report|serve|train)$")
    target_compile_options(tutti_${name} PRIVATE -fPIC -fvisibility=hidden -fvisibility-inlines-hidden)
  endif()
  target_link_libraries(tutti_${name} PUBLIC tutti_options fmt::fmt Threads::Threads)
  foreach(used ${ROOM_USES})
    target_link_libraries(tutti_${name} PUBLIC tutti_${used})
  endforeach()
  target_link_libraries(tutti_${name} PRIVATE ${ROOM_LIBRARIES})
  set(with_cuda FALSE)
  if(TUTTI_HAVE_CUDA AND "${sources}" MATCHES "/cuda/")
    set(with_cuda TRUE)
    file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${folder}/*.cu)
    set(cuda_tests ${cuda_sources})
    list(FILTER cuda_sources EXCLUDE REGEX "_test\\.cu$")
    list(FILTER cuda_tests INCLUDE REGEX "_test\\.cu$")
    tutti_use_cuda(tutti_${name} ${cuda_sources})
  endif()
  if(TUTTI_TESTS AND tests)
    add_executable(${name}_test ${tests})
    tutti_test_options(${name}_test)
    target_link_libraries(${name}_test PRIVATE tutti_${name} tutti_testing GTest::gtest_main)
    if(with_cuda)
      tutti_use_cuda(${name}_test ${cuda_tests})
    endif()
    add_test(NAME ${name} COMMAND ${name}_test)
    set_property(GLOBAL APPEND PROPERTY tutti_room_tests ${name}_test)
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "no tests ran")
  endif()
endfunction()

# Shared by all tests: the paths of the sources and of the shared data.
if(TUTTI_TESTS)
  add_library(tutti_testing INTERFACE)
  target_compile_definitions(tutti_testing INTERFACE TUTTI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(tutti_testing INTERFACE GTest::gtest)
  if(TUTTI_PRECOMPILE)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc "")
    add_library(tutti_test_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc)
    target_compile_options(tutti_test_headers PRIVATE ${TUTTI_TEST_OPTIONS})
    target_link_libraries(tutti_test_headers PRIVATE tutti_options tutti_testing fmt::fmt)
    target_precompile_headers(tutti_test_headers PRIVATE <gtest/gtest.h> <algorithm> <fstream>
                              <functional> <map> <sstream> <string> <vector>)
  endif()
endif()
