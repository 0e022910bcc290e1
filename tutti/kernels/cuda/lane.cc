#include "tutti/kernels/cuda/lane.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>

#include "tutti/kernels/cuda/cublas.h"
#include "tutti/kernels/cuda/error.h"

namespace tutti {
namespace {

constexpr unsigned long long kNone = std::numeric_limits<unsigned long long>::max();
constexpr int64_t kLeastScratch = int64_t{1} << 20;

}  // namespace

Result<std::unique_ptr<CudaLane>> CudaLane::open(CudaStream stream, int multiprocessors) {
  constexpr auto kDoing = "a lane of the GPU cannot be opened";
  const bool whole = multiprocessors == 0;
  if (whole) {
    int device = 0;
    if (auto got = cuda::done(cudaGetDevice(&device), kDoing); !got) return got.error();
    const int code =
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (auto got = cuda::done(code, kDoing); !got) return got.error();
  }
  std::unique_ptr<CudaLane> lane(new CudaLane(std::move(stream), multiprocessors, whole));
  void* wrong = nullptr;
  if (auto got = cuda::done(cudaMalloc(&wrong, sizeof kNone), kDoing); !got) return got.error();
  lane->wrong_ = static_cast<unsigned long long*>(wrong);
  void* found = nullptr;
  if (auto got = cuda::done(cudaMallocHost(&found, sizeof kNone), kDoing); !got) return got.error();
  lane->found_ = static_cast<unsigned long long*>(found);
  return lane;
}

CudaLane::~CudaLane() {
  (void)cudaStreamSynchronize(stream_.get());
  if (handle_ != nullptr) (*cuda::Cublas::open())->destroy(handle_);
  for (std::byte* memory : scratch_) cudaFree(memory);
  if (wrong_ != nullptr) cudaFree(wrong_);
  if (found_ != nullptr) cudaFreeHost(found_);
}

Result<std::byte*> CudaLane::scratch(int64_t bytes) {
  if (scratch_bytes_ < bytes || scratch_.empty()) {
    const int64_t wanted = std::max({bytes, 2 * scratch_bytes_, kLeastScratch});
    void* memory = nullptr;
    if (auto got = cuda::done(cudaMalloc(&memory, static_cast<size_t>(wanted)),
                              "a kernel finds no room for its own use");
        !got) {
      (void)cudaGetLastError();  // it is told; the GPU is none the worse for it
      return got.error();
    }
    scratch_.push_back(static_cast<std::byte*>(memory));
    scratch_bytes_ = wanted;
  }
  return scratch_.back();
}

Result<CudaLane::Blas> CudaLane::blas() {
  const Result<const cuda::Cublas*> cublas = cuda::Cublas::open();
  if (!cublas) return cublas.error();
  const cuda::Cublas& functions = **cublas;
  if (handle_ == nullptr) {
    constexpr auto kDoing = "cuBLAS cannot be started";
    cublasHandle_t handle = nullptr;
    if (auto made = cuda::cublas_done(functions.create(&handle), kDoing); !made) {
      return made.error();
    }
    handle_ = handle;
    constexpr auto kMath = static_cast<cublasMath_t>(
        static_cast<int>(CUBLAS_DEFAULT_MATH) |
        static_cast<int>(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
    std::vector<cublasStatus_t> set = {functions.set_stream(handle, stream_.get()),
                                       functions.set_math_mode(handle, kMath)};
    if (!whole_) set.push_back(functions.set_multiprocessors(handle, multiprocessors_));
    for (const cublasStatus_t status : set) {
      if (auto good = cuda::cublas_done(status, kDoing); !good) return good.error();
    }
  }
  return Blas{functions, handle_};
}

Result<unsigned long long*> CudaLane::begin_search() {
  static_assert(kNone == ~0ULL);  // every byte is 0xff
  const int code = cudaMemsetAsync(wrong_, 0xff, sizeof kNone, stream_.get());
  if (auto set = cuda::done(code, "the GPU failed"); !set) return set.error();
  return wrong_;
}

Result<std::optional<int64_t>> CudaLane::end_search() {
  const int code =
      cudaMemcpyAsync(found_, wrong_, sizeof kNone, cudaMemcpyDeviceToHost, stream_.get());
  if (auto copied = cuda::done(code, "the GPU failed"); !copied) return copied.error();
  if (auto waited = stream_.wait(); !waited) return waited.error();
  if (*found_ == kNone) return std::optional<int64_t>();
  return std::optional<int64_t>(static_cast<int64_t>(*found_));
}

}  // namespace tutti
