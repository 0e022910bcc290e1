# What `tutti --version` says of the build: C++ source with the version of the project and the optional libraries found.

function(tutti_add_build_facts target)
  set(compiler ${CMAKE_CXX_COMPILER_ID})
  if(compiler STREQUAL GNU)
    set(compiler gcc)
  elseif(compiler MATCHES Clang)
    set(compiler clang)
  endif()
  set(rows)
  # name, key in JSON, what tells it
  foreach(row IN ITEMS "CUDA;cuda;TUTTI_HAVE_CUDA" "TOML;toml;tomlplusplus_FOUND" "ONNX;onnx;ONNX_FOUND"
                       "hwloc;hwloc;HWLOC_FOUND" "METIS;metis;METIS_FOUND" "Clp;clp;CLP_FOUND" "libcurl;curl;CURL_FOUND")
    list(GET row 0 name)
    list(GET row 1 key)
    list(GET row 2 condition)
    set(there false)
    if(${condition})
      set(there true)
    endif()
    string(APPEND rows "    {\"${name}\", \"${key}\", ${there}},\n")
  endforeach()
  set(made ${CMAKE_CURRENT_BINARY_DIR}/build_facts.cc)
  file(CONFIGURE OUTPUT ${made} CONTENT "#include \"tools/version.h\"

namespace tutti {
namespace {

constexpr BuildFeature kFeatures[] = {
${rows}};
constexpr BuildFacts kFacts = {
    .version = \"${PROJECT_VERSION}\",
    .compiler = \"${compiler} ${CMAKE_CXX_COMPILER_VERSION}\",
    .processor = \"${CMAKE_SYSTEM_PROCESSOR}\",
    .build_type = \"${CMAKE_BUILD_TYPE}\",
    .features = kFeatures,
};

}  // namespace

const BuildFacts& build_facts() {
  return kFacts;
}

}  // namespace tutti
")
  target_sources(${target} PRIVATE ${made})
endfunction()
