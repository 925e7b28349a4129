# What `cmake --install` and `cpack` put where. bin/sooth finds the rest from where it is, so a prefix may be moved.

# Manual pages and completions, out of the declarations of the command line.
set(reference ${PROJECT_BINARY_DIR}/share)
add_custom_command(OUTPUT ${reference}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${reference}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${reference}/bash ${reference}/zsh ${reference}/fish
  COMMAND sooth reference --format man -o ${reference}/man1
  COMMAND sooth reference --format bash -o ${reference}/bash/sooth
  COMMAND sooth reference --format zsh -o ${reference}/zsh/_sooth
  COMMAND sooth reference --format fish -o ${reference}/fish/sooth.fish
  COMMAND ${CMAKE_COMMAND} -E touch ${reference}/made
  DEPENDS sooth VERBATIM)
add_custom_target(reference ALL DEPENDS ${reference}/made)
install(DIRECTORY ${reference}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${reference}/bash/sooth DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${reference}/fish/sooth.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# zsh looks into the first; that of Debian, for packages, into the second only.
foreach(folder site-functions vendor-completions)
  install(FILES ${reference}/zsh/_sooth DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder})
endforeach()

# Documentation, with the folders that its links expect.
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# find_package(Sooth)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/Sooth)
set(SOOTH_EXECUTABLE ${CMAKE_INSTALL_BINDIR}/sooth)
configure_package_config_file(cmake/SoothConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/SoothConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS SOOTH_EXECUTABLE CMAKE_INSTALL_INCLUDEDIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/SoothConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/SoothConfig.cmake ${PROJECT_BINARY_DIR}/cmake/SoothConfigVersion.cmake
  DESTINATION ${package_dir})

# `cpack -G DEB`, as scripts/release.sh does, and `cpack -G TGZ`.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ${PROJECT_NAME})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
string(CONCAT CPACK_PACKAGE_DESCRIPTION
  "Sooth records one run of a C or C++ program and works out which accesses\nanother schedule could bring together. "
  "It proves what it finds with a\nreordering that an independent checker accepts, makes it happen in a\ncontrolled run, "
  "and tells how to repeat that.")
set(CPACK_PACKAGE_CONTACT "The Sooth developers <developers@sooth.invalid>")  # there is no address yet
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# Nothing can be recorded that was not compiled; gdb is for `sooth replay --gdb`, and that Clang for `sooth c++ --deep`.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ | clang")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gdb, clang-${LLVM_VERSION_MAJOR}")
# The day of the version, as Debian's changelogs have it.
execute_process(COMMAND date --utc --rfc-email --date=${SOOTH_VERSION_DATE} OUTPUT_VARIABLE CPACK_SOOTH_DATE
  OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian_files.cmake)
include(CPack)
