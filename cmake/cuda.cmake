# Code for NVIDIA GPUs, if there is a CUDA compiler (12.4 or later, which has green contexts).
# The program starts without CUDA: the CUDA runtime is linked statically, the driver and cuBLAS are
# opened when a GPU is used. Without a compiler everything else is built, and using a GPU is an error
# with a message.

option(TUTTI_CUDA "Build the code for NVIDIA GPUs if nvcc is installed" ON)
set(TUTTI_HAVE_CUDA FALSE)
# Sanitizers and the CUDA driver need the same addresses.
if(TUTTI_CUDA AND NOT TUTTI_SANITIZE)
  find_package(CUDAToolkit 12.4 QUIET)
  if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE AND TARGET CUDA::cudart_static)
    find_path(TUTTI_CUBLAS_HEADERS cublas_v2.h PATHS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
    if(TUTTI_CUBLAS_HEADERS)
      set(TUTTI_HAVE_CUDA TRUE)
    endif()
  endif()
endif()
if(TUTTI_HAVE_CUDA)
  message(STATUS "GPUs: with CUDA ${CUDAToolkit_VERSION} (${CUDAToolkit_NVCC_EXECUTABLE})")
else()
  message(STATUS "GPUs: built without CUDA")
endif()

# Lets a target use the CUDA runtime, and adds .cu files to it: machine code for Hopper, and PTX from which the driver compiles
# that of any other GPU since Ampere. nvcc is called by a custom command: as a language of the project it would get
# the warnings of the C++ compiler, which its generated code does not pass.
function(tutti_use_cuda target)
  target_compile_definitions(${target} PRIVATE TUTTI_HAVE_CUDA)
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda/${target}/${name}.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/cuda/${target}
      COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++20 -O3 -I${PROJECT_SOURCE_DIR}
              -gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=compute_80
              -Werror all-warnings -Xcompiler=-Wall,-Wextra,-fPIC -MD -MF ${object}.d -MT ${object}
              -c ${source} -o ${object}
      DEPENDS ${source}
      DEPFILE ${object}.d
      COMMENT "Compiling ${name} for GPUs"
      VERBATIM)
    target_sources(${target} PRIVATE ${object})
  endforeach()
endfunction()
