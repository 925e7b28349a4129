# The only two ways targets are declared in this project.
#
#   sooth_library(order SOURCES a.cc b.cc DEPS trace PRIVATE_DEPS PkgConfig::ZSTD)
#   sooth_test(order_test SOURCES a_test.cc DEPS order)
#
# A library is the folder of the same name; DEPS follow the table in CONTRIBUTING.md. RUNS_RARELY: its code is no part of
# the analyses, and takes no time that anybody would notice.

add_library(sooth_flags INTERFACE)
target_compile_options(sooth_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Wswitch
                       # Later Clangs see what headers of an older libstdc++ use.
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports it for every `"x" + std::string` (GCC bug 105651).
  target_compile_options(sooth_flags INTERFACE -Wno-restrict)
endif()
if(SOOTH_WERROR)
  target_compile_options(sooth_flags INTERFACE -Werror)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # SSE4.1's integer maximum is what joins of vector clocks compile to; every x86-64 CPU since 2009 has it.
  target_compile_options(sooth_flags INTERFACE -march=x86-64-v2)
endif()
if(SOOTH_SANITIZE)
  target_compile_options(sooth_flags INTERFACE -fsanitize=${SOOTH_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(sooth_flags INTERFACE -fsanitize=${SOOTH_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports it inside <regex> when a sanitizer is on (GCC bug 105562).
    target_compile_options(sooth_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# A folder's files are compiled several at once, which saves most of the time of a first build: headers and templates
# cost more than the code behind them. Names in anonymous namespaces must then differ within a target. Who edits one file
# again and again, or wants compile_commands.json for tools, turns it off, as the presets `debug` and `clang` do.
option(SOOTH_UNITY "Compile several files of a folder at once" ON)
set(CMAKE_UNITY_BUILD ${SOOTH_UNITY})
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
endif()
if(SOOTH_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # It takes a source for a header as soon as another includes it.
  target_compile_options(sooth_flags INTERFACE -Wno-subobject-linkage)
endif()

# The compiler's time is better spent elsewhere when code runs rarely, or as a test. With sanitizers, which are what
# RelWithDebInfo is for here, optimising takes a third of the time of such files.
function(sooth_optimise_little target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:RelWithDebInfo>:-O0>)
endfunction()

function(sooth_library name)
  cmake_parse_arguments(ARG "RUNS_RARELY" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(sooth_${name} STATIC ${ARG_SOURCES})
  target_include_directories(sooth_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ARG_DEPS PREPEND sooth_)
  target_link_libraries(sooth_${name} PUBLIC ${ARG_DEPS} PRIVATE sooth_flags ${ARG_PRIVATE_DEPS})
  if(ARG_RUNS_RARELY)
    sooth_optimise_little(sooth_${name})
  endif()
endfunction()

# LABELS are ctest labels; every test gets `unit` unless it says otherwise. A test labelled `untrusted` feeds the tool
# bytes from outside: scripts/test.sh runs it under sanitizers too, after building the target untrusted_tests.
add_custom_target(untrusted_tests)
set(SOOTH_TIMEOUT_FACTOR 1 CACHE STRING "Multiplies the time limits of tests, for campaigns with many cases")
function(sooth_test name)
  if(NOT SOOTH_DEVELOPER)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;PRIVATE_DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPS PREPEND sooth_)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} sooth_flags ${ARG_PRIVATE_DEPS} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE SOOTH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  sooth_optimise_little(${name})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * ${SOOTH_TIMEOUT_FACTOR}")
  if("untrusted" IN_LIST ARG_LABELS)
    add_dependencies(untrusted_tests ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
  if("property" IN_LIST ARG_LABELS)
    set_tests_properties(${name} PROPERTIES COST 20)  # ctest starts what is long first
  endif()
endfunction()
