# The libraries that tutti is built with. Core ones are required. The others are optional; without
# one, the parts that need it report that when they are used.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_path(BOOST_MATH_INCLUDE boost/math/distributions/students_t.hpp REQUIRED)  # headers alone
find_package(PkgConfig QUIET)

# Reads TOML files. Without it every file can be written as JSON.
find_package(tomlplusplus QUIET)

# Discovers this host's cores and memory. Without it tutti only counts cores.
if(PKG_CONFIG_FOUND)
  pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc)
  # Solves the linear program of the policy m_sct, which is greedy without it.
  pkg_check_modules(CLP QUIET IMPORTED_TARGET clp)
  # bench/simgrid_rival compares our simulator with it.
  pkg_check_modules(SIMGRID QUIET IMPORTED_TARGET simgrid)
endif()

# Partitions graphs for the policy min_cut. Without it that policy does not exist.
find_library(METIS_LIBRARY metis)
find_path(METIS_INCLUDE metis.h)
if(METIS_LIBRARY AND METIS_INCLUDE)
  set(METIS_FOUND TRUE)
endif()

# Reads ONNX models. Without it such a file is refused with a message.
find_package(Protobuf QUIET)
if(Protobuf_FOUND)
  find_package(ONNX QUIET)
endif()

# Headers of libcurl, for tutti submit, status, cancel and drain over https. The library itself is opened
# when it is needed. Without the headers such an address is refused with a message.
find_package(CURL 7.85 QUIET)

# make demo needs no tests; make test installs GoogleTest first.
if(TUTTI_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(STATUS "GoogleTest was not found (libgtest-dev): the tests are not built")
    set(TUTTI_TESTS OFF)
  endif()
endif()
if(TUTTI_BENCH)
  find_package(benchmark QUIET)
  find_package(TBB QUIET)  # for comparison in bench/overhead_bench
endif()

# Runs plans on several hosts (--runtime starpu); also for comparison in bench/overhead_bench. Without it,
# or without MPI, that runtime says what to install.
option(TUTTI_STARPU "Build the runtime starpu if StarPU and MPI are installed" ON)
set(TUTTI_HAVE_STARPU FALSE)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(STARPU QUIET IMPORTED_TARGET starpu-1.3)
  pkg_check_modules(MPI QUIET IMPORTED_TARGET ompi-c)
endif()
# Sanitizers would report races inside libraries that are not instrumented.
if(TUTTI_STARPU AND STARPU_FOUND AND MPI_FOUND AND NOT TUTTI_SANITIZE)
  set(TUTTI_HAVE_STARPU TRUE)
  message(STATUS "StarPU: ${STARPU_VERSION}, with MPI")
else()
  message(STATUS "StarPU: built without; the runtime starpu needs libstarpu-dev and libopenmpi-dev")
endif()

# Trains models. Without it tutti plans with existing models.
option(TUTTI_TRAIN "Build tutti-train if libtorch is installed" ON)
if(TUTTI_TRAIN)
  find_package(Torch QUIET)
endif()
