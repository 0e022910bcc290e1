// What the CUDA runtime answers, as a Result.

#ifndef TUTTI_KERNELS_CUDA_ERROR_H_
#define TUTTI_KERNELS_CUDA_ERROR_H_

#include <string_view>

#include "tutti/base/result.h"

namespace tutti::cuda {

// The sentence for a cudaError_t, `doing` being what was tried; infeasible if memory was short.
Error error_of(int code, std::string_view doing);

// Nothing if the code is cudaSuccess.
inline Result<void> done(int code, std::string_view doing) {
  if (code == 0) return {};
  return error_of(code, doing);
}

// Whether the work just put into a stream could be started.
Result<void> launched();

// Nothing if there is a GPU that this program can use; else a sentence that says what is missing.
Result<void> check_gpus();

}  // namespace tutti::cuda

#endif  // TUTTI_KERNELS_CUDA_ERROR_H_
