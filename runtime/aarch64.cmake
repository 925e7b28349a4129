# The run time library for AArch64, beside that of x86-64, for programs that run under an emulator (src/launch/emulator.h).
# Without a cross compiler there is none, and everything else works.
find_program(SOOTH_AARCH64_CXX aarch64-linux-gnu-g++)
find_program(SOOTH_AARCH64_CC aarch64-linux-gnu-gcc)
if(SOOTH_AARCH64_CXX AND SOOTH_AARCH64_CC AND sooth_machine STREQUAL x86_64)
  set(SOOTH_HAS_AARCH64 ON)
else()
  set(SOOTH_HAS_AARCH64 OFF)
endif()
option(SOOTH_AARCH64 "Build the run time library for programs of AArch64, too" ${SOOTH_HAS_AARCH64})
if(NOT SOOTH_AARCH64)
  return()
endif()

include(ExternalProject)
ExternalProject_Add(sooth_rt_aarch64
  SOURCE_DIR ${CMAKE_CURRENT_SOURCE_DIR}
  BINARY_DIR ${CMAKE_CURRENT_BINARY_DIR}/aarch64
  PREFIX ${CMAKE_CURRENT_BINARY_DIR}/aarch64.project
  CMAKE_ARGS
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64
    -DCMAKE_C_COMPILER=${SOOTH_AARCH64_CC} -DCMAKE_CXX_COMPILER=${SOOTH_AARCH64_CXX}
    -DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER} -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
    -DCMAKE_BUILD_TYPE=Release -DSOOTH_WERROR=${SOOTH_WERROR}
  BUILD_ALWAYS ON
  BUILD_BYPRODUCTS ${CMAKE_CURRENT_BINARY_DIR}/aarch64/libtsan.so.2
  INSTALL_COMMAND "")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/aarch64/libtsan.so.2 ${CMAKE_CURRENT_BINARY_DIR}/aarch64/libtsan.so
        ${CMAKE_CURRENT_BINARY_DIR}/aarch64/libclang_rt.tsan-aarch64.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/sooth/aarch64)
