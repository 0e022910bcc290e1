# cmake --install: the program, the libraries with their headers and a package for find_package(tutti),
# the trained models, the Python package, and completion for bash.
#
#   find_package(tutti REQUIRED)
#   target_link_libraries(mine PRIVATE tutti::search)    # or any other room; tutti::tutti is all of them

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)

get_property(rooms GLOBAL PROPERTY tutti_installed_rooms)
add_library(tutti_all INTERFACE)
set_target_properties(tutti_all PROPERTIES EXPORT_NAME tutti)
set_target_properties(tutti_options PROPERTIES EXPORT_NAME options)
add_custom_target(libraries)
foreach(room ${rooms})
  add_dependencies(libraries tutti_${room})
  target_link_libraries(tutti_all INTERFACE tutti_${room})
  install(TARGETS tutti_${room} EXPORT tutti ARCHIVE)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tutti/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tutti
          FILES_MATCHING PATTERN "*.h" PATTERN "testing.h" EXCLUDE)
endforeach()
install(TARGETS tutti_options tutti_all EXPORT tutti)
install(EXPORT tutti NAMESPACE tutti:: FILE tutti-targets.cmake DESTINATION ${package_folder})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tutti-config.cmake.in
  ${PROJECT_BINARY_DIR}/tutti-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tutti-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tutti-config.cmake ${PROJECT_BINARY_DIR}/tutti-config-version.cmake
        DESTINATION ${package_folder})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/tutti DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti/python
        FILES_MATCHING PATTERN "*.py")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(FILES ${PROJECT_BINARY_DIR}/tutti.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tutti)
