# `make deb`: one package for any Debian or Ubuntu with glibc 2.35 or later. It has the portable program
# (cmake/portable.cmake) with the libraries it brings, the Python package, completion, man pages, and a unit for systemd.
# dpkg-shlibdeps finds what it depends on.

if(TUTTI_SANITIZE)
  return()
endif()

# As /usr, and not where this build would be installed.
set(ordinary_bindir ${CMAKE_INSTALL_FULL_BINDIR})
set(CMAKE_INSTALL_FULL_BINDIR /usr/bin)
configure_file(${PROJECT_SOURCE_DIR}/packaging/tutti.service.in ${PROJECT_BINARY_DIR}/debian/tutti.service @ONLY)
set(CMAKE_INSTALL_FULL_BINDIR ${ordinary_bindir})
install(FILES ${PROJECT_BINARY_DIR}/debian/tutti.service DESTINATION lib/systemd/system
        COMPONENT debian EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/tutti DESTINATION lib/python3/dist-packages
        COMPONENT debian EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/tutti RENAME copyright
        COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tutti)
set(CPACK_PACKAGE_VENDOR tutti)
set(CPACK_PACKAGE_CONTACT "tutti developers <noreply@tutti.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "plans dataflow graphs on heterogeneous machines, and runs them")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "tutti decides which op of a dataflow graph runs when and on which CPU or GPU, runs the plan for real or in\n simulation, and says how far the result is from the best possible. With a job server and a Python package.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL portable common debian)
if(TARGET tutti_shared)
  list(APPEND CPACK_COMPONENTS_ALL Unspecified)  # headers and package files of the libraries
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_TUTTI_BUILD ${PROJECT_BINARY_DIR})
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/deb_depends.cmake)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, libopenblas0 | libopenblas0-pthread")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "coinor-libclp1, libcurl4")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/postinst
    ${PROJECT_SOURCE_DIR}/packaging/debian/prerm ${PROJECT_SOURCE_DIR}/packaging/debian/postrm)
include(CPack)
