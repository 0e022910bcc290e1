# libtutti.so: the C interface (tutti/tutti_c.h) and all that is behind it, in one file that exports nothing else.
# Its number is TUTTI_C_VERSION.

file(STRINGS ${PROJECT_SOURCE_DIR}/tutti/tutti_c.h c_version REGEX "^#define TUTTI_C_VERSION ")
string(REGEX MATCH "[0-9]+" c_version "${c_version}")
add_library(tutti_shared SHARED $<TARGET_OBJECTS:tutti_door>)
set_target_properties(tutti_shared PROPERTIES
  OUTPUT_NAME tutti EXPORT_NAME tutti SOVERSION ${c_version} VERSION ${c_version}.${PROJECT_VERSION}
  LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_link_libraries(tutti_shared PRIVATE tutti_search INTERFACE $<BUILD_INTERFACE:tutti_options>)
target_link_options(tutti_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_include_directories(tutti_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(tutti_shared INTERFACE cxx_std_20)
