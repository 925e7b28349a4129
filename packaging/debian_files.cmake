# Run by CPack over the tree that it is about to pack: what Debian's policy wants of a package and nobody else does.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(share ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
  set(doc ${share}/doc/${CPACK_PACKAGE_NAME})
  file(GLOB pages ${share}/man/man1/*.1)
  file(WRITE ${doc}/changelog "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * CHANGELOG.md says what is new.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${CPACK_SOOTH_DATE}\n")
  execute_process(COMMAND gzip -9n ${pages} ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
  file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/copyright ${doc}/copyright)
  file(MAKE_DIRECTORY ${share}/lintian/overrides)
  file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/lintian-overrides ${share}/lintian/overrides/${CPACK_PACKAGE_NAME})

  # What the package depends on. CPack's own way asks for the libraries of every file; those of other machines come with the programs that run there.
  file(GLOB native RELATIVE ${CPACK_TEMPORARY_DIRECTORY} ${CPACK_TEMPORARY_DIRECTORY}/usr/bin/sooth ${CPACK_TEMPORARY_DIRECTORY}/usr/lib/sooth/*.so)
  file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/debian/control "")
  execute_process(COMMAND dpkg-shlibdeps --ignore-missing-info -O ${native} WORKING_DIRECTORY ${CPACK_TEMPORARY_DIRECTORY}
    OUTPUT_VARIABLE libraries OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE ${CPACK_TEMPORARY_DIRECTORY}/debian)
  string(REGEX REPLACE "^.*Depends=" "" CPACK_DEBIAN_PACKAGE_DEPENDS "${libraries}")
endif()
