// Makes a GPU current to this thread for as long as it lives, and then again the one before.

#ifndef TUTTI_RUNTIME_LOCAL_CUDA_CURRENT_H_
#define TUTTI_RUNTIME_LOCAL_CUDA_CURRENT_H_

#include <cuda_runtime_api.h>

namespace tutti {

class CurrentGpu {
 public:
  explicit CurrentGpu(int gpu) : good_(cudaGetDevice(&before_) == cudaSuccess) {
    if (cudaSetDevice(gpu) != cudaSuccess) (void)cudaGetLastError();  // the next call says so too
  }
  ~CurrentGpu() {
    if (good_ && cudaSetDevice(before_) != cudaSuccess) (void)cudaGetLastError();
  }
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;

 private:
  int before_ = 0;
  bool good_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_CUDA_CURRENT_H_
