#include "tutti/kernels/cuda/error.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace tutti::cuda {

Error error_of(int code, std::string_view doing) {
  const auto error = static_cast<cudaError_t>(code);
  const std::string sentence = fmt::format("{}: CUDA says '{}' ({})", doing,
                                           cudaGetErrorString(error), cudaGetErrorName(error));
  return error == cudaErrorMemoryAllocation ? infeasible(sentence) : failed(sentence);
}

Result<void> launched() {
  return done(cudaGetLastError(), "work could not be started on the GPU");
}

Result<void> check_gpus() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    return failed("there is no NVIDIA driver here, or it is older than the CUDA of this program");
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    return failed("the NVIDIA driver shows no GPU; is CUDA_VISIBLE_DEVICES empty?");
  }
  return done(error, "GPUs cannot be counted");
}

}  // namespace tutti::cuda
