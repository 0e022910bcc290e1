# The page of `tutti report` and the timeline on the page of `tutti serve`, bundled from web/ and built into the program. Bundling needs node and
# the packages that scripts/setup fetches, but no network. Without them everything else is built,
# and `tutti report` says what is missing.

find_program(TUTTI_NODE NAMES node nodejs)
set(page_packages ${PROJECT_SOURCE_DIR}/web/node_modules/.package-lock.json)
# Packages that are added or removed change the configuration.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web
             ${PROJECT_SOURCE_DIR}/web/package-lock.json)

function(tutti_add_page target)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/page_template.cc)
  set(job ${CMAKE_CURRENT_BINARY_DIR}/job_script.cc)
  if(TUTTI_NODE AND EXISTS ${page_packages})
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
    add_custom_command(
      OUTPUT ${made} ${job}
      COMMAND ${TUTTI_NODE} ${PROJECT_SOURCE_DIR}/web/build.mjs ${made} ${job}
      DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/web/build.mjs ${page_packages}
      COMMENT "Bundling the page of tutti report"
      VERBATIM)
  else()
    set(made ${CMAKE_CURRENT_BINARY_DIR}/no_page_template.cc)
    set(job)
    file(CONFIGURE OUTPUT ${made} CONTENT "#include \"tutti/report/template.h\"

tutti::PageTemplate tutti::page_template() {
  return {};
}

std::span<const std::string_view> tutti::job_script() {
  return {};
}
")
    message(STATUS "tutti report will write no pages, and jobs of tutti serve have no timelines: node or the packages of web/ are missing")
  endif()
  target_sources(${target} PRIVATE ${made} ${job})
endfunction()
