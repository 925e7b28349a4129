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
endif()
