# Runs before cpack packs: asks dpkg-shlibdeps what the portable program and the libraries it brings depend on, less the
# packages of those libraries. (cpack's own call would list them: it sees each library alone.)

set(staged ${CPACK_TUTTI_BUILD}/portable/staged)
file(REMOVE_RECURSE ${staged})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${CPACK_TUTTI_BUILD} --component portable --prefix ${staged}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB files ${staged}/bin/* ${staged}/lib/*.so.* ${staged}/lib/tutti/*)
file(GLOB brought RELATIVE ${staged}/share/doc/tutti/carried ${staged}/share/doc/tutti/carried/*)
list(TRANSFORM brought PREPEND -x)
file(WRITE ${staged}/debian/control "Source: tutti\n\nPackage: tutti\nArchitecture: any\n")
execute_process(COMMAND dpkg-shlibdeps -O --ignore-missing-info ${brought} ${files}
                WORKING_DIRECTORY ${staged} OUTPUT_VARIABLE depends ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "shlibs:Depends=" "" CPACK_DEBIAN_PACKAGE_DEPENDS "${depends}")
