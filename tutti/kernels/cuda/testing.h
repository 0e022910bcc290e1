// For tests: tensors in a GPU's memory, and ops run on them.

#ifndef TUTTI_KERNELS_CUDA_TESTING_H_
#define TUTTI_KERNELS_CUDA_TESTING_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "tutti/kernels/cuda/error.h"
#include "tutti/kernels/cuda/lane.h"
#include "tutti/kernels/programs_testing.h"

namespace tutti {

#define TUTTI_NEEDS_GPU() \
  if (const auto found = cuda::check_gpus(); !found) GTEST_SKIP() << found.error().message

// The elements of a tensor as a dtype stores them; the tensor holds only what the dtype can.
inline std::vector<std::byte> bytes_of(const Tensor& tensor, DType dtype) {
  const auto width = static_cast<size_t>(element_bytes(dtype));
  std::vector<std::byte> bytes(tensor.data.size() * width);
  for (size_t i = 0; i < tensor.data.size(); ++i) {
    const auto single = static_cast<float>(tensor.data[i]);
    const auto bits = std::bit_cast<uint32_t>(single);
    const auto upper = static_cast<uint16_t>(bits >> 16);
    const auto whole = dtype == DType::i32 ? static_cast<int32_t>(tensor.data[i]) : 0;
    const void* from = dtype == DType::i32   ? static_cast<const void*>(&whole)
                       : dtype == DType::f32 ? static_cast<const void*>(&bits)
                                             : static_cast<const void*>(&upper);
    std::memcpy(bytes.data() + i * width, from, width);
  }
  return bytes;
}

inline Tensor tensor_of(const std::vector<std::byte>& bytes, const Shape& shape, DType dtype) {
  const auto width = static_cast<size_t>(element_bytes(dtype));
  Tensor tensor = Tensor::zeros(shape);
  for (size_t i = 0; i < tensor.data.size(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * width, width);
    tensor.data[i] = std::bit_cast<float>(dtype == DType::f32 ? bits : bits << 16);
  }
  return tensor;
}

// A block in the GPU's memory, with bytes around it that no kernel may write.
class DeviceBlock {
 public:
  // `skip` elements after an aligned address.
  DeviceBlock(Shape shape, DType dtype, size_t skip = 0) : shape_(std::move(shape)), dtype_(dtype) {
    const auto width = static_cast<size_t>(element_bytes(dtype));
    bytes_ = Tensor::zeros(shape_).data.size() * width;
    begin_ = kAround + skip * width;
    EXPECT_EQ(cudaMalloc(&memory_, all()), cudaSuccess);
    EXPECT_EQ(cudaMemset(memory_, kUnwritten, all()), cudaSuccess);
  }
  DeviceBlock(DeviceBlock&& other) noexcept
      : shape_(std::move(other.shape_)),
        dtype_(other.dtype_),
        bytes_(other.bytes_),
        begin_(other.begin_),
        memory_(std::exchange(other.memory_, nullptr)) {}
  DeviceBlock& operator=(DeviceBlock&&) = delete;
  ~DeviceBlock() {
    if (memory_ != nullptr) cudaFree(memory_);
  }

  static DeviceBlock of(const Tensor& tensor, DType dtype, size_t skip = 0) {
    DeviceBlock block(tensor.shape, dtype, skip);
    const std::vector<std::byte> bytes = bytes_of(tensor, dtype);
    EXPECT_EQ(cudaMemcpy(block.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
              cudaSuccess);
    return block;
  }

  Block block() const { return {shape_, dtype_, data()}; }

  // Expects that nothing around it was written.
  Tensor read(const std::string& what) const {
    std::vector<std::byte> bytes(all());
    EXPECT_EQ(cudaMemcpy(bytes.data(), memory_, bytes.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (i >= begin_ && i < begin_ + bytes_) continue;
      EXPECT_EQ(bytes[i], std::byte{kUnwritten}) << what << " writes outside of its result";
      if (bytes[i] != std::byte{kUnwritten}) break;
    }
    const auto begin = bytes.begin() + static_cast<long>(begin_);
    return tensor_of({begin, begin + static_cast<long>(bytes_)}, shape_, dtype_);
  }

 private:
  static constexpr size_t kAround = 256;
  static constexpr int kUnwritten = 0xff;  // no number, as f32 and as bf16

  size_t all() const { return begin_ + bytes_ + kAround; }
  void* data() const { return static_cast<std::byte*>(memory_) + begin_; }

  Shape shape_;
  DType dtype_;
  size_t bytes_ = 0;
  size_t begin_ = 0;
  void* memory_ = nullptr;
};

inline std::unique_ptr<CudaLane> open_lane(int multiprocessors = 0) {
  Result<CudaStream> stream = CudaStream::open();
  EXPECT_TRUE(stream) << stream.error().message;
  Result<std::unique_ptr<CudaLane>> lane = CudaLane::open(std::move(*stream), multiprocessors);
  EXPECT_TRUE(lane) << lane.error().message;
  return std::move(*lane);
}

// Runs an op on the GPU and waits for it. `dtypes`: of the operands, and last of the result.
inline Result<Tensor> run_on(CudaLane& lane, const OpCase& op, const std::vector<DType>& dtypes,
                             size_t skip = 0) {
  std::vector<DeviceBlock> stored;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    stored.push_back(DeviceBlock::of(op.operands[i], dtypes[i], skip));
    shapes.push_back(op.operands[i].shape);
  }
  std::vector<ConstBlock> operands;
  for (const DeviceBlock& operand : stored) operands.emplace_back(operand.block());
  const Result<OpFacts> facts = infer_op(op.kind, op.attributes(), shapes);
  if (!facts) return facts.error();
  const DeviceBlock output(facts->output, dtypes.back(), skip);
  // Copies of this thread go by another stream than the lane's.
  if (auto ready = cuda::done(cudaDeviceSynchronize(), "waiting"); !ready) return ready.error();
  if (auto run = run_cuda(op.kind, op.attributes(), operands, output.block(), lane); !run) {
    return run.error();
  }
  if (auto waited = lane.stream().wait(); !waited) return waited.error();
  return output.read(op.text());
}

}  // namespace tutti

#endif  // TUTTI_KERNELS_CUDA_TESTING_H_
