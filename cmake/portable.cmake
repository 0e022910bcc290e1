# The program for machines that cannot build it, from the same object files: it brings the libraries that a bare
# distribution lacks in lib/tutti, and looks for them there, relative to its own folder. Of the machine it wants glibc
# and libstdc++ alone. `cmake --install build/release --component portable --prefix FOLDER` writes bin/tutti,
# lib/tutti/*.so.* and, if it is built, lib/libtutti.so; the wheel and the deb are made of them.

# Sanitized programs stay where they are built.
if(TUTTI_SANITIZE)
  return()
endif()

add_executable(tutti-portable ${PROJECT_SOURCE_DIR}/tools/main.cc)
target_link_libraries(tutti-portable PRIVATE tutti_tools)
# DT_RPATH, unlike DT_RUNPATH, holds for what the carried libraries need too.
target_link_options(tutti-portable PRIVATE LINKER:--disable-new-dtags)
set_target_properties(tutti-portable PROPERTIES
  OUTPUT_NAME tutti RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/portable/bin
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib/tutti")
add_custom_target(portable DEPENDS tutti-portable)
install(TARGETS tutti-portable DESTINATION bin COMPONENT portable EXCLUDE_FROM_ALL)
set(portable_libraries)
if(TARGET tutti_shared)
  add_dependencies(portable tutti_shared)
  target_link_options(tutti_shared PRIVATE LINKER:--disable-new-dtags)
  set_target_properties(tutti_shared PROPERTIES INSTALL_RPATH "$ORIGIN/tutti:$ORIGIN/../tutti")
  install(TARGETS tutti_shared LIBRARY DESTINATION lib COMPONENT portable EXCLUDE_FROM_ALL)
  set(portable_libraries $<TARGET_FILE:tutti_shared>)
endif()

# What both need and no bare machine has. manylinux_2_35 promises the libraries left out.
install(CODE "
  set(program \"$<TARGET_FILE:tutti-portable>\")
  set(libraries \"${portable_libraries}\")
" COMPONENT portable EXCLUDE_FROM_ALL)
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/carry_libraries.cmake COMPONENT portable EXCLUDE_FROM_ALL)
