# The functions of vcpkg that our port calls, for `cmake -P`: nothing is compiled, BUILD is installed.
#
#   cmake -DPORT_DIR=DIR -DBUILD=DIR -DSCRATCH=DIR -P vcpkg_stand_in.cmake
cmake_minimum_required(VERSION 3.25)
set(PORT sooth)
set(TARGET_TRIPLET x64-linux)
set(CURRENT_PORT_DIR ${PORT_DIR})
set(CURRENT_PACKAGES_DIR ${SCRATCH}/packages)
set(CURRENT_BUILDTREES_DIR ${SCRATCH}/trees)
file(MAKE_DIRECTORY ${CURRENT_BUILDTREES_DIR})
file(CREATE_LINK ${BUILD} ${CURRENT_BUILDTREES_DIR}/${TARGET_TRIPLET}-rel SYMBOLIC)

function(vcpkg_find_acquire_program name)
  set(${name} /usr/bin/${name} PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS OR NOT EXISTS ${arg_SOURCE_PATH}/CMakeLists.txt OR NOT "-DPKG_CONFIG_EXECUTABLE=/usr/bin/PKGCONFIG" IN_LIST arg_OPTIONS)
    message(FATAL_ERROR "vcpkg_cmake_configure: ${ARGV}")
  endif()
endfunction()

function(vcpkg_cmake_build)
endfunction()

function(vcpkg_execute_required_process)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "WORKING_DIRECTORY;LOGNAME" "COMMAND")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_LOGNAME)
    message(FATAL_ERROR "vcpkg_execute_required_process: ${ARGV}")
  endif()
  execute_process(COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${arg_WORKING_DIRECTORY} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

include(${PORT_DIR}/portfile.cmake)
