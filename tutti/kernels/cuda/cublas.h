// cuBLAS, opened when a product is first computed on a GPU. It is not linked: the program starts
// without it. Only tutti/kernels/cuda needs this.

#ifndef TUTTI_KERNELS_CUDA_CUBLAS_H_
#define TUTTI_KERNELS_CUDA_CUBLAS_H_

#include <cublas_v2.h>

#include "tutti/base/result.h"

namespace tutti::cuda {

struct Cublas {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSetMathMode) set_math_mode = nullptr;
  decltype(&cublasSetSmCountTarget) set_multiprocessors = nullptr;
  decltype(&cublasGemmStridedBatchedEx_64) multiply = nullptr;
  decltype(&cublasStrsm_v2_64) solve = nullptr;
  decltype(&cublasSsyrk_v2_64) multiply_symmetric = nullptr;

  // Looks at $TUTTI_CUBLAS, where the loader looks, and in the usual places of CUDA and of Python's
  // packages. Fails with one sentence if it is nowhere. Any thread may call it, at any time.
  static Result<const Cublas*> open();
};

// Nothing if the status is CUBLAS_STATUS_SUCCESS.
Result<void> cublas_done(cublasStatus_t status, const char* doing);

}  // namespace tutti::cuda

#endif  // TUTTI_KERNELS_CUDA_CUBLAS_H_
