# The three kinds of target of this project. Sources are listed explicitly.
#   league_library(NAME SOURCES a.cpp ... DEPS public targets ... PRIVATE_DEPS private targets ...)
#   league_program(NAME SOURCES ... DEPS ...)          an executable in build/bin, installed
#   league_test(NAME SOURCES ... DEPS ... [LABELS ...] [SANITIZERS all|address|none] [COST seconds])
#                                                      a GoogleTest binary, one ctest entry
# COST: what takes longest begins first.
# SANITIZERS: `address` where everything happens in one thread, `none` where texts are all that is tested; else `all`.
add_library(league_options INTERFACE)
target_include_directories(league_options INTERFACE ${PROJECT_SOURCE_DIR})
# gcc 12 reports overlaps and bounds in std::string operations that cannot happen (GCC bug 105651): -Wno-restrict,
# -Wno-array-bounds; and with -O2 it takes the text inside an empty std::optional<std::string> for uninitialised:
# -Wno-maybe-uninitialized. Sources that are compiled together are headers to it, in which anonymous namespaces would be a
# mistake: -Wno-subobject-linkage.
target_compile_options(league_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
                       $<$<BOOL:${LEAGUE_WARNINGS_AS_ERRORS}>:-Werror>)
# By default gcc frees its own memory very often, which takes an eighth of the time for sources of this size. With these
# limits it takes up to 1.8 GB for a unit of 24 sources, and two cores take up to 3.7 GB together.
target_compile_options(league_options INTERFACE
                       "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-expand=300 --param ggc-min-heapsize=1000000>")
target_compile_definitions(league_options INTERFACE LEAGUE_VERSION="${PROJECT_VERSION}")
if(LEAGUE_SANITIZER STREQUAL "address")
  # clang 14 cannot compile coroutines with the check of function pointers' types.
  target_compile_options(league_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
                         $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  target_link_options(league_options INTERFACE -fsanitize=address,undefined)
elseif(LEAGUE_SANITIZER STREQUAL "thread")
  # gcc 12 warns that TSan does not model atomic_thread_fence, which standard headers use.
  target_compile_options(league_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  target_link_options(league_options INTERFACE -fsanitize=thread)
endif()
if(LEAGUE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "LEAGUE_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  target_compile_options(league_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The headers of others that nearly every source reads, read once for each way to optimise: a third of a clean build. No
# source relies on that: the debug build does without it.
add_library(league_headers INTERFACE)
target_precompile_headers(league_headers INTERFACE <chrono> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional>
                          <set> <string> <thread> <variant> <vector> ${PROJECT_SOURCE_DIR}/common/core/json_instances.h)
function(league_headers_once name optimisation)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/headers/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/headers/${name}.cpp)
  target_link_libraries(${name} PRIVATE league_options league_dep_json league_headers ${ARGN})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:${optimisation}>)
endfunction()
league_headers_once(league_headers_cold -Og)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  league_headers_once(league_headers_hot -O2)
else()  # everything is compiled alike
  add_library(league_headers_hot ALIAS league_headers_cold)
endif()
if(LEAGUE_BUILD_TESTS)
  league_headers_once(league_headers_tests -O0 league_dep_gtest)
  target_precompile_headers(league_headers_tests PRIVATE <gtest/gtest.h> <gmock/gmock.h>)
endif()

# league_compiled(NAME hot|cold|tests): how a target is compiled. `hot` is where the programs spend their time: what
# every message of a match passes. `cold` is everything else. -Og takes half as long to compile as -O2. Tests need not be
# optimised: what they test is.
function(league_compiled name kind)
  set(optimisation_hot -O2)
  set(optimisation_cold -Og)
  set(optimisation_tests -O0)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:${optimisation_${kind}}>)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${LEAGUE_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 24)
  target_precompile_headers(${name} REUSE_FROM league_headers_${kind})
  if(kind STREQUAL "tests")  # with other definitions, gcc refuses the precompiled headers
    target_link_libraries(${name} PRIVATE league_dep_gtest)
  endif()
endfunction()

# Several sources compile the same template or inline function, each in its own way, and the linker keeps the first copy.
# So the hot code that all programs share is linked first, and completely; otherwise the match path would run functions
# of nlohmann/json and the standard library that a cold source compiled, and a test would run ones that are not optimised
# at all.
function(league_hot_first name)
  if(LEAGUE_UNITY_BUILD AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_link_options(${name} PRIVATE
      "SHELL:-Wl,--whole-archive $<TARGET_FILE:league_common_hot> -Wl,--no-whole-archive")
    target_link_libraries(${name} PRIVATE league_common_hot)
  endif()
endfunction()

# gold and lld take less than half of the time that GNU binutils' default linker takes (docs/decisions.md).
if(NOT LEAGUE_SANITIZER AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld=")
  include(CheckLinkerFlag)
  foreach(linker gold lld)
    check_linker_flag(CXX -fuse-ld=${linker} LEAGUE_HAS_${linker})
    if(LEAGUE_HAS_${linker})
      add_link_options(-fuse-ld=${linker})
      break()
    endif()
  endforeach()
endif()

# Set by a folder, for the libraries in it and below:
#   LEAGUE_COMPILED   `hot` or `cold`; `hot` where it says nothing
#   LEAGUE_TOGETHER   with LEAGUE_UNITY_BUILD, its libraries of one kind are compiled as one library, whose name begins with
#                     this: otherwise a library of five sources would read all headers and compile all templates for
#                     itself. Other builds compile and link each library by itself.
function(league_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(NOT LEAGUE_COMPILED)
    set(LEAGUE_COMPILED hot)
  endif()
  if(LEAGUE_UNITY_BUILD AND LEAGUE_TOGETHER)
    set(compiled ${LEAGUE_TOGETHER}_${LEAGUE_COMPILED})
    if(NOT TARGET ${compiled})
      add_library(${compiled} STATIC)
      target_link_libraries(${compiled} PUBLIC league_options)
      league_compiled(${compiled} ${LEAGUE_COMPILED})
    endif()
    list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    target_sources(${compiled} PRIVATE ${ARG_SOURCES})
    target_link_libraries(${compiled} PRIVATE ${ARG_DEPS} ${ARG_PRIVATE_DEPS})
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${compiled} ${ARG_DEPS})
  else()
    set(compiled ${name})
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC league_options ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
    league_compiled(${name} ${LEAGUE_COMPILED})
  endif()
  # The target that compiles the sources, for those who set its properties.
  set(${name}_COMPILED ${compiled} PARENT_SCOPE)
endfunction()

function(league_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE league_options ${ARG_DEPS} league_dep_allocator)
  league_compiled(${name} cold)
  league_hot_first(${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT league)
endfunction()

# What scripts/test --asan and --tsan build and run; the ctest entries have the same name as a label.
add_custom_target(asan_tests)
add_custom_target(tsan_tests)

# league_sanitized(OUT NAME all|address|none): in OUT the labels for the test of the executable NAME.
function(league_sanitized out name sanitizers)
  set(labels)
  if(NOT sanitizers STREQUAL "none")
    add_dependencies(asan_tests ${name})
    list(APPEND labels asan_tests)
  endif()
  if(sanitizers STREQUAL "all")
    add_dependencies(tsan_tests ${name})
    list(APPEND labels tsan_tests)
  endif()
  set(${out} ${labels} PARENT_SCOPE)
endfunction()

function(league_test name)
  if(NOT LEAGUE_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SANITIZERS;COST" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_COST)
    set(ARG_COST 1)
  endif()
  if(NOT ARG_SANITIZERS)
    set(ARG_SANITIZERS all)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE league_options ${ARG_DEPS} league_dep_gtest)
  league_compiled(${name} tests)
  league_hot_first(${name})
  target_compile_definitions(${name} PRIVATE LEAGUE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  league_sanitized(sanitized ${name} ${ARG_SANITIZERS})
  list(APPEND ARG_LABELS ${sanitized})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" COST ${ARG_COST})
  if(LEAGUE_SANITIZER)
    # A property is tried 25 times and not 100 times: a sanitizer looks at the code that runs, not at the values.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "RC_PARAMS=max_success=25")
  endif()
endfunction()

# Fuzz targets: one function LLVMFuzzerTestOneInput per file NAME_fuzz.cpp, a seed corpus in corpus/NAME.
#   league_fuzz(NAME DEPS targets ... [MUTATIONS N])
# With LEAGUE_FUZZ (the preset `fuzz`, which scripts/fuzz builds) each becomes the libFuzzer program fuzz/NAME_fuzz; everywhere
# else a program of that name replays the corpus and some thousand seeded mutations of it, which is a test.
add_custom_target(fuzz_targets)
function(league_fuzz name)
  cmake_parse_arguments(ARG "" "MUTATIONS" "DEPS" ${ARGN})
  add_executable(${name}_fuzz ${name}_fuzz.cpp)
  target_link_libraries(${name}_fuzz PRIVATE league_options ${ARG_DEPS})
  set_target_properties(${name}_fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  add_dependencies(fuzz_targets ${name}_fuzz)
  if(LEAGUE_FUZZ)
    target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  else()
    target_link_libraries(${name}_fuzz PRIVATE league_fuzz_replay)
    league_compiled(${name}_fuzz cold)
    league_hot_first(${name}_fuzz)
    add_test(NAME fuzz_${name} COMMAND ${name}_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name} ${ARG_MUTATIONS})
    league_sanitized(sanitized ${name}_fuzz address)
    set_tests_properties(fuzz_${name} PROPERTIES LABELS "unit;${sanitized}")
  endif()
endfunction()
