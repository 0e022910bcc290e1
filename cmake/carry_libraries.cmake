# Runs at installation: copies the libraries that `program` and `libraries` need, and the licence of each, next to them.

file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${program}
  LIBRARIES ${libraries}
  RESOLVED_DEPENDENCIES_VAR found
  UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^(libc|libm|libdl|librt|libpthread|libstdc[+][+]|libgcc_s)[.]so" "^ld-linux"
                      "^libtutti[.]so")
if(missing)
  message(FATAL_ERROR "the program needs libraries that this machine lacks: ${missing}")
endif()
set(root $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})
file(REMOVE_RECURSE ${root}/lib/tutti ${root}/share/doc/tutti/carried)
file(MAKE_DIRECTORY ${root}/lib/tutti ${root}/share/doc/tutti/carried)
foreach(library IN LISTS found)
  get_filename_component(name ${library} NAME)
  file(REAL_PATH ${library} file)
  message(STATUS "Carrying: ${name}")
  file(COPY_FILE ${file} ${root}/lib/tutti/${name})
  # Debian names the package by the real path, which may be without /usr.
  string(REGEX REPLACE "^/usr/lib/" "/lib/" short ${file})
  set(package)
  foreach(path IN ITEMS ${file} ${short})
    if(NOT package)
      execute_process(COMMAND dpkg-query --search ${path} OUTPUT_VARIABLE package ERROR_QUIET)
    endif()
  endforeach()
  string(REGEX REPLACE "[:,].*" "" package "${package}")
  if(package AND EXISTS /usr/share/doc/${package}/copyright)
    file(COPY_FILE /usr/share/doc/${package}/copyright ${root}/share/doc/tutti/carried/${package})
  else()
    message(WARNING "no licence of ${name} was found; add it to share/doc/tutti/carried before you publish")
  endif()
endforeach()
