# cmake --install: the program, libtutti.so with the headers of its C and C++ interfaces, a package for
# find_package(tutti), the trained models, the Python package, completion for shells, man pages, and a unit for systemd.
#
#   find_package(tutti REQUIRED)
#   target_link_libraries(mine PRIVATE tutti::tutti)    # or: pkg-config --cflags --libs tutti
#
# The headers below are all that are installed, and they include no others; test/door_installed holds them to that.

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)

install(FILES ${PROJECT_SOURCE_DIR}/tutti/tutti.h ${PROJECT_SOURCE_DIR}/tutti/tutti_c.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tutti)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tutti/door DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tutti
        FILES_MATCHING PATTERN "*.h" PATTERN "c" EXCLUDE)
install(TARGETS tutti_shared EXPORT tutti LIBRARY)
install(EXPORT tutti NAMESPACE tutti:: FILE tutti-targets.cmake DESTINATION ${package_folder})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tutti-config.cmake.in
  ${PROJECT_BINARY_DIR}/tutti-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tutti-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tutti-config.cmake ${PROJECT_BINARY_DIR}/tutti-config-version.cmake
        DESTINATION ${package_folder})
file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/tutti.pc.in ${PROJECT_BINARY_DIR}/tutti.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tutti.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Of the components, `program` is what belongs to the ordinary program; `common` is in the deb too (cmake/package.cmake).
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti COMPONENT common)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/tutti DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti/python COMPONENT program
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "lib" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

configure_file(${PROJECT_SOURCE_DIR}/packaging/tutti.service.in ${PROJECT_BINARY_DIR}/tutti.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tutti.service DESTINATION lib/systemd/system COMPONENT program)

# Made by the program itself (tools/CMakeLists.txt).
set(completions ${PROJECT_BINARY_DIR}/completions)
install(FILES ${completions}/tutti.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tutti
        COMPONENT common)
install(FILES ${completions}/_tutti DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT common)
install(FILES ${completions}/tutti.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT common)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT common OPTIONAL)
