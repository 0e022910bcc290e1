# The libraries tutti is built with. Core ones are required; without the others the build goes on
# and the parts that need them say so when they are asked for.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_path(BOOST_MATH_INCLUDE boost/math/distributions/students_t.hpp REQUIRED)  # headers alone
find_package(PkgConfig QUIET)

# Reads TOML files. Without it every file can be written as JSON.
find_package(tomlplusplus QUIET)

# Discovers this host's cores and memory. Without it tutti counts cores alone.
if(PKG_CONFIG_FOUND)
  pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc)
  # Solves the linear program of the policy m_sct, which without it chooses greedily.
  pkg_check_modules(CLP QUIET IMPORTED_TARGET clp)
  # The rival that bench/simgrid_rival measures our simulator against.
  pkg_check_modules(SIMGRID QUIET IMPORTED_TARGET simgrid)
endif()

# Cuts graphs for the policy min_cut. Without it that policy does not exist.
find_library(METIS_LIBRARY metis)
find_path(METIS_INCLUDE metis.h)
if(METIS_LIBRARY AND METIS_INCLUDE)
  set(METIS_FOUND TRUE)
endif()

# Reads ONNX models. Without it such a file is refused with a sentence.
find_package(Protobuf QUIET)
if(Protobuf_FOUND)
  find_package(ONNX QUIET)
endif()

# Its headers, for tutti submit, status, cancel and drain over https. The library itself is opened when
# it is needed. Without them such an address is refused with a sentence.
find_package(CURL 7.85 QUIET)

# make demo needs no tests; make test installs GoogleTest before.
if(TUTTI_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(STATUS "GoogleTest was not found (libgtest-dev): the tests are not built")
    set(TUTTI_TESTS OFF)
  endif()
endif()
if(TUTTI_BENCH)
  find_package(benchmark QUIET)
  find_package(TBB QUIET)  # a rival of bench/overhead_bench
endif()

# Runs plans on several hosts (--runtime starpu), and is a rival of bench/overhead_bench. Without it,
# or without MPI, that runtime says what to install.
option(TUTTI_STARPU "Build the runtime starpu if StarPU and MPI are there" ON)
set(TUTTI_HAVE_STARPU FALSE)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(STARPU QUIET IMPORTED_TARGET starpu-1.3)
  pkg_check_modules(STARPU_MPI QUIET IMPORTED_TARGET starpumpi-1.3)
  pkg_check_modules(MPI QUIET IMPORTED_TARGET ompi-c)
endif()
# Sanitizers would see races inside libraries that they cannot look into.
if(TUTTI_STARPU AND STARPU_FOUND AND STARPU_MPI_FOUND AND MPI_FOUND AND NOT TUTTI_SANITIZE)
  set(TUTTI_HAVE_STARPU TRUE)
  message(STATUS "StarPU: ${STARPU_VERSION}, with MPI")
else()
  message(STATUS "StarPU: built without; the runtime starpu needs libstarpu-dev and libopenmpi-dev")
endif()

# Trains networks. Without it tutti plans with the models there are.
option(TUTTI_TRAIN "Build tutti-train if libtorch is there" ON)
if(TUTTI_TRAIN)
  find_package(Torch QUIET)
endif()
