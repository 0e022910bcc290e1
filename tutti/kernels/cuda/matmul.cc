// Every product in index notation becomes one call of cuBLAS for each index of the batch that does
// not go in equal steps; most products are one call. Operands whose strides cuBLAS understands are
// read where they lie, turned or not; others are put in order first, in the lane's scratch.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>

#include "tutti/kernels/cpu/blas.h"
#include "tutti/kernels/cpu/contraction.h"
#include "tutti/kernels/cpu/floats.h"
#include "tutti/kernels/cuda/blocks.h"
#include "tutti/kernels/cuda/cublas.h"
#include "tutti/kernels/cuda/cuda.h"
#include "tutti/kernels/cuda/error.h"
#include "tutti/kernels/cuda/gemm.h"
#include "tutti/kernels/cuda/lane.h"

namespace tutti::cuda {
namespace {

using cpu::Contraction;
using cpu::MatrixSides;

enum Array : size_t { kFirst, kSecond, kOut };
using Strides = std::array<int64_t, 3>;

struct BatchLoop {
  int64_t size;
  Strides strides;
};

// One operand or the result: how its matrices lie, once they lie well.
struct Sheets {
  std::byte* data;
  int64_t step;
  bool turned;
  bool packed;
};

class Product {
 public:
  Product(Contraction contraction, int width)
      : contraction_(std::move(contraction)), width_(width) {
    for (const auto& loop : contraction_.batch.loops()) batch_.push_back({loop.size, loop.strides});
  }

  // Decides what is packed, and how much room that takes.
  int64_t plan() {
    int64_t bytes = 0;
    for (const Array array : {kFirst, kSecond, kOut}) {
      const std::optional<cpu::Matrix> place = in_place(array);
      sheets_[array] = {nullptr, place ? place->step : columns_of(array), place && place->turned,
                        !place};
      if (!place) {
        offsets_[array] = bytes;
        bytes += (elements_of(array) * width_ + 255) / 256 * 256;
      }
    }
    return bytes;
  }

  // `data`: the operands and the result as they are.
  Done run(const std::array<void*, 3>& data, std::byte* scratch, DType dtype, CudaLane& lane) {
    for (const Array array : {kFirst, kSecond, kOut}) {
      sheets_[array].data = static_cast<std::byte*>(data[array]);
      if (!sheets_[array].packed) continue;
      sheets_[array].data = scratch + offsets_[array];
      if (array != kOut)
        copy(lane.queue(), width_, packing(array), data[array], sheets_[array].data);
    }
    const Result<CudaLane::Blas> blas = lane.blas();
    if (!blas) return blas.error();
    if (auto multiplied = multiply_all(*blas, dtype); !multiplied) return multiplied.error();
    if (sheets_[kOut].packed) {
      Loops back = packing(kOut);
      std::swap(back.first, back.second);
      copy(lane.queue(), width_, back, sheets_[kOut].data, data[kOut]);
    }
    return launched();
  }

 private:
  const MatrixSides& sides(Array array) const {
    return array == kFirst    ? contraction_.first
           : array == kSecond ? contraction_.second
                              : contraction_.out;
  }
  int64_t columns_of(Array array) const { return sides(array).columns.size(); }
  int64_t matrix_of(Array array) const { return sides(array).rows.size() * columns_of(array); }
  int64_t elements_of(Array array) const { return contraction_.batch.count() * matrix_of(array); }

  std::optional<cpu::Matrix> in_place(Array array) const {
    const auto rows = sides(array).rows.step();
    const auto columns = sides(array).columns.step();
    if (!rows || !columns) return std::nullopt;
    const auto found =
        cpu::as_matrix(nullptr, sides(array).rows.size(), columns_of(array), *rows, *columns);
    return found && array == kOut && found->turned ? std::nullopt : found;
  }

  // From the array as it is to the packed one: all matrices, by rows.
  Loops packing(Array array) const {
    cpu::Nest<2> nest;
    int64_t step = elements_of(array);
    for (const BatchLoop& loop : batch_) {
      step /= loop.size;
      nest.add_loop(loop.size, {loop.strides[array], step});
    }
    for (const cpu::Side* side : {&sides(array).rows, &sides(array).columns}) {
      for (const auto& loop : side->loops()) {
        step /= loop.size;
        nest.add_loop(loop.size, {loop.strides[0], step});
      }
    }
    return loops_of(nest);
  }

  // How far apart the matrices along a loop of the batch are, where they now lie.
  int64_t stride_of(Array array, size_t loop) const {
    if (!sheets_[array].packed) return batch_[loop].strides[array];
    int64_t stride = matrix_of(array);
    for (size_t i = loop + 1; i < batch_.size(); ++i) stride *= batch_[i].size;
    return stride;
  }

  // The longest loop of the batch is cuBLAS's, the others are ours.
  Done multiply_all(const CudaLane::Blas& blas, DType dtype) const {
    size_t longest = 0;
    for (size_t i = 1; i < batch_.size(); ++i) {
      if (batch_[i].size > batch_[longest].size) longest = i;
    }
    cpu::Nest<3> others;
    for (size_t i = 0; i < batch_.size(); ++i) {
      if (i == longest) continue;
      others.add_loop(batch_[i].size,
                      {stride_of(kFirst, i), stride_of(kSecond, i), stride_of(kOut, i)});
    }
    GemmBatch gemm{.rows = contraction_.rows(),
                   .columns = contraction_.columns(),
                   .inner = contraction_.inner()};
    if (!batch_.empty()) {
      gemm.count = batch_[longest].size;
      gemm.strides = {stride_of(kFirst, longest), stride_of(kSecond, longest),
                      stride_of(kOut, longest)};
    }
    Done multiplied;
    const Strides steps = others.steps();
    others.for_each_run({0, others.count()}, [&](const Strides& offsets, int64_t count) {
      for (int64_t i = 0; i < count && multiplied; ++i) {
        const auto matrix = [&](Array array) {
          return sheets_[array].data + (offsets[array] + i * steps[array]) * width_;
        };
        multiplied = multiply(blas, dtype, gemm,
                              {matrix(kFirst), sheets_[kFirst].step, sheets_[kFirst].turned},
                              {matrix(kSecond), sheets_[kSecond].step, sheets_[kSecond].turned},
                              matrix(kOut), sheets_[kOut].step);
      }
    });
    return multiplied;
  }

  Contraction contraction_;
  int width_;  // bytes of an element
  std::vector<BatchLoop> batch_;
  std::array<Sheets, 3> sheets_{};
  std::array<int64_t, 3> offsets_{};  // in the scratch
};

}  // namespace

Done matmul(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane) {
  const Shape shapes[] = {cpu::to_shape(operands[0].shape), cpu::to_shape(operands[1].shape)};
  const Einsum einsum =
      *parse_einsum(attributes.text("einsum").value_or("ik,kj->ij"), shapes[0], shapes[1]);
  Contraction contraction = cpu::contraction_of(einsum, shapes[0], shapes[1]);
  // Neither operand is written to.
  std::array<void*, 3> data = {const_cast<void*>(operands[0].data),
                               const_cast<void*>(operands[1].data), output.data};
  if (contraction.out.rows.last_step() == 1 && contraction.columns() > 1) {  // it is in columns
    contraction = cpu::turned(std::move(contraction));
    std::swap(data[kFirst], data[kSecond]);
  }
  const int width = element_bytes(output.dtype);
  const int64_t count = cpu::product_of(output.shape);
  if (count == 0) return {};
  if (contraction.inner() == 0) {
    return done(
        cudaMemsetAsync(output.data, 0, static_cast<size_t>(count * width), lane.stream().get()),
        "the GPU failed");
  }
  Product product(std::move(contraction), width);
  const int64_t bytes = product.plan();
  std::byte* scratch = nullptr;
  if (bytes > 0) {
    const Result<std::byte*> got = lane.scratch(bytes);
    if (!got) return got.error();
    scratch = *got;
  }
  return product.run(data, scratch, output.dtype, lane);
}

}  // namespace tutti::cuda
