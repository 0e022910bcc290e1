#include "tutti/runtime/local/cuda/copiers.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tutti/kernels/cuda/error.h"
#include "tutti/kernels/cuda/stream.h"
#include "tutti/runtime/local/cuda/current.h"

namespace tutti {
namespace {

constexpr auto kDoing = "a value cannot be copied";

class DirectCopier : public Copier {
 public:
  explicit DirectCopier(int gpu) : gpu_(gpu) {}
  ~DirectCopier() override {
    const CurrentGpu current(gpu_);
    stream_.reset();
  }

  Result<void> enter() override {
    if (auto set = cuda::done(cudaSetDevice(gpu_), "a GPU cannot be used"); !set)
      return set.error();
    Result<CudaStream> stream = CudaStream::open();
    if (!stream) return stream.error();
    stream_.emplace(std::move(*stream));
    return {};
  }

  Result<void> copy(void* to, const void* from, int64_t bytes) override {
    if (bytes == 0) return {};
    const int code =
        cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault, stream_->get());
    if (auto started = cuda::done(code, kDoing); !started) return started.error();
    return stream_->wait();
  }

 private:
  int gpu_;
  std::optional<CudaStream> stream_;
};

// A piece of pinned memory, and when it was last filled and emptied.
struct Stage {
  void* memory = nullptr;
  cudaEvent_t filled = nullptr;
  cudaEvent_t emptied = nullptr;
};

class StagedCopier : public Copier {
 public:
  StagedCopier(int from_gpu, int to_gpu) : from_gpu_(from_gpu), to_gpu_(to_gpu) {}
  ~StagedCopier() override {
    for (const Stage& stage : stages_) {
      if (stage.filled != nullptr) cudaEventDestroy(stage.filled);
      if (stage.emptied != nullptr) cudaEventDestroy(stage.emptied);
      if (stage.memory != nullptr) cudaFreeHost(stage.memory);
    }
    const CurrentGpu current(from_gpu_);
    down_.reset();
    up_.reset();
  }

  Result<void> enter() override {
    if (auto set = use(to_gpu_); !set) return set.error();
    if (auto opened = open(up_); !opened) return opened.error();
    for (Stage& stage : stages_) {
      if (auto made = make_event(stage.emptied); !made) return made.error();
    }
    if (auto set = use(from_gpu_); !set) return set.error();
    if (auto opened = open(down_); !opened) return opened.error();
    for (Stage& stage : stages_) {
      if (auto made = make_event(stage.filled); !made) return made.error();
      if (stage.memory != nullptr) continue;
      const int code = cudaHostAlloc(&stage.memory, kPiece, cudaHostAllocPortable);
      if (auto got = cuda::done(code, "there is no room to stage copies"); !got) return got.error();
    }
    return {};
  }

  Result<void> copy(void* to, const void* from, int64_t bytes) override {
    auto* target = static_cast<std::byte*>(to);
    const auto* source = static_cast<const std::byte*>(from);
    const auto all = static_cast<size_t>(bytes);
    size_t piece = 0;
    for (size_t begin = 0; begin < all; begin += kPiece, ++piece) {
      const size_t size = std::min(kPiece, all - begin);
      const bool again = piece >= stages_.size();
      if (const int code =
              move(stages_[piece % stages_.size()], target + begin, source + begin, size, again);
          code != cudaSuccess) {
        return cuda::error_of(code, kDoing);
      }
    }
    // What went up had come down before.
    return up_->wait();
  }

 private:
  static constexpr size_t kPiece = size_t{2} << 20;

  static Result<void> use(int gpu) {
    return cuda::done(cudaSetDevice(gpu), "a GPU cannot be used");
  }
  static Result<void> open(std::optional<CudaStream>& stream) {
    Result<CudaStream> opened = CudaStream::open();
    if (!opened) return opened.error();
    stream.emplace(std::move(*opened));
    return {};
  }
  static Result<void> make_event(cudaEvent_t& event) {
    if (event != nullptr) return {};  // of an earlier try to enter
    return cuda::done(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                      "copies cannot be staged");
  }

  int move(const Stage& stage, void* to, const void* from, size_t bytes, bool again) const {
    if (again) {
      if (const int code = cudaStreamWaitEvent(down_->get(), stage.emptied, 0)) return code;
    }
    if (const int code =
            cudaMemcpyAsync(stage.memory, from, bytes, cudaMemcpyDefault, down_->get())) {
      return code;
    }
    if (const int code = cudaEventRecord(stage.filled, down_->get())) return code;
    if (const int code = cudaStreamWaitEvent(up_->get(), stage.filled, 0)) return code;
    if (const int code = cudaMemcpyAsync(to, stage.memory, bytes, cudaMemcpyDefault, up_->get())) {
      return code;
    }
    return cudaEventRecord(stage.emptied, up_->get());
  }

  int from_gpu_;
  int to_gpu_;
  std::optional<CudaStream> down_;
  std::optional<CudaStream> up_;
  std::array<Stage, 4> stages_{};
};

}  // namespace

std::unique_ptr<Copier> direct_copier(int gpu) {
  return std::make_unique<DirectCopier>(gpu);
}

std::unique_ptr<Copier> staged_copier(int from_gpu, int to_gpu) {
  return std::make_unique<StagedCopier>(from_gpu, to_gpu);
}

}  // namespace tutti
