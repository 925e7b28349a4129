# Builds the sources that this file lies in: `vcpkg install sooth --overlay-ports=packaging/vcpkg`.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

set(VCPKG_BUILD_TYPE release)  # a tool: nobody links with it
set(VCPKG_POLICY_EMPTY_INCLUDE_FOLDER enabled)

vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DSOOTH_DEVELOPER=OFF
    -DSOOTH_WITH_DEEP=OFF  # needs LLVM and Clang 19, and no other version
    -DSOOTH_VALGRIND=OFF
    "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
)
vcpkg_cmake_build()

# The tool finds its run time library from where it is, so all of it goes into one folder.
set(prefix "${CURRENT_PACKAGES_DIR}/tools/${PORT}")
vcpkg_execute_required_process(
  COMMAND "${CMAKE_COMMAND}" --install . --strip --prefix "${prefix}"
  WORKING_DIRECTORY "${CURRENT_BUILDTREES_DIR}/${TARGET_TRIPLET}-rel"
  LOGNAME "install-${TARGET_TRIPLET}"
)

# What find_package(Sooth) finds.
file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/SoothConfig.cmake"
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/../../tools/${PORT}/share/cmake/Sooth/SoothConfig.cmake\")\n")
file(COPY "${prefix}/share/cmake/Sooth/SoothConfigVersion.cmake" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
file(INSTALL "${SOURCE_PATH}/LICENSE" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}" RENAME copyright)
