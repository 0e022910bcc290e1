#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <bit>

#include "tutti/kernels/cpu/floats.h"
#include "tutti/kernels/cuda/blocks.h"
#include "tutti/kernels/cuda/cuda.h"
#include "tutti/kernels/cuda/error.h"
#include "tutti/kernels/cuda/lane.h"
#include "tutti/kernels/tensor.h"

namespace tutti::cuda {
namespace {

// Copies all places of `shape`, which lie in both arrays with the strides of larger blocks and
// begin so many elements into them.
struct Move {
  std::span<const int64_t> shape;
  const Shape& from_strides;
  const Shape& to_strides;
  size_t from_begin = 0;
  size_t to_begin = 0;

  Done put(const ConstBlock& from, const Block& to, CudaLane& lane) const {
    if (cpu::product_of(shape) == 0) return {};
    cpu::Nest<2> nest;
    for (size_t i = 0; i < shape.size(); ++i) {
      nest.add_loop(shape[i], {from_strides[i], to_strides[i]});
    }
    const int bytes = element_bytes(to.dtype);
    const auto width = static_cast<size_t>(bytes);
    copy(lane.queue(), bytes, loops_of(nest),
         static_cast<const std::byte*>(from.data) + from_begin * width,
         static_cast<std::byte*>(to.data) + to_begin * width);
    return launched();
  }
};

Id id_of(DType dtype) {
  return dtype == DType::i32 ? Id::i32 : dtype == DType::f32 ? Id::f32 : Id::bf16;
}

// The id at a place, read back from the GPU.
Result<double> read_id(const ConstBlock& ids, int64_t place, CudaLane& lane) {
  uint32_t bits = 0;
  const auto width = static_cast<size_t>(element_bytes(ids.dtype));
  const auto* at = static_cast<const std::byte*>(ids.data) + static_cast<size_t>(place) * width;
  const int code = cudaMemcpyAsync(&bits, at, width, cudaMemcpyDeviceToHost, lane.stream().get());
  if (auto copied = done(code, "the GPU failed"); !copied) return copied.error();
  if (auto waited = lane.stream().wait(); !waited) return waited.error();
  if (ids.dtype == DType::i32) return static_cast<double>(static_cast<int32_t>(bits));
  // A bf16 is the upper half of a float.
  return static_cast<double>(std::bit_cast<float>(ids.dtype == DType::f32 ? bits : bits << 16));
}

}  // namespace

Done transpose(const Attributes& attributes, Operands operands, const Block& output,
               CudaLane& lane) {
  const Shape strides = strides_of(cpu::to_shape(operands[0].shape));
  const Shape permutation = *attributes.wholes("permutation");
  Shape permuted;
  for (const int64_t axis : permutation) {
    permuted.push_back(strides[static_cast<size_t>(axis)]);
  }
  const Shape own = strides_of(cpu::to_shape(output.shape));
  return Move{output.shape, permuted, own}.put(operands[0], output, lane);
}

Done assemble(const Attributes& attributes, Operands operands, const Block& output,
              CudaLane& lane) {
  const auto offsets = *attributes.rows("offsets");
  const Shape strides = strides_of(cpu::to_shape(output.shape));
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape own = strides_of(cpu::to_shape(operands[i].shape));
    const Move move{operands[i].shape, own, strides, 0, place_at(offsets[i], strides)};
    if (auto moved = move.put(operands[i], output, lane); !moved) return moved.error();
  }
  return {};
}

Done slice(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane) {
  const Shape strides = strides_of(cpu::to_shape(operands[0].shape));
  const Shape own = strides_of(cpu::to_shape(output.shape));
  return Move{output.shape, strides, own, place_at(*attributes.wholes("begin"), strides)}.put(
      operands[0], output, lane);
}

// With first_row the table is a part of a larger one, and ids of other parts give zeros, so that
// the parts' results add up to the whole. Without, the ids are looked at first.
Done embedding(const Attributes& attributes, Operands operands, const Block& output,
               CudaLane& lane) {
  const ConstBlock& ids = operands[0];
  const Table table{operands[1].data, operands[1].shape[0], operands[1].shape[1],
                    static_cast<double>(*attributes.whole("first_row", 0))};
  const int64_t count = cpu::product_of(ids.shape);
  const bool of_larger = attributes.text("first_row").has_value();
  if (!of_larger) {
    const Result<unsigned long long*> wrong = lane.begin_search();
    if (!wrong) return wrong.error();
    find_wrong_id(lane.queue(), id_of(ids.dtype), count, ids.data, table, *wrong);
  }
  gather(lane.queue(), element_bytes(output.dtype), id_of(ids.dtype), count, ids.data, table,
         output.data);
  if (auto started = launched(); !started || of_larger) return started;
  const Result<std::optional<int64_t>> place = lane.end_search();
  if (!place) return place.error();
  if (!*place) return {};
  const Result<double> id = read_id(ids, **place, lane);
  if (!id) return id.error();
  return invalid_input(fmt::format("embedding: id {} is no row of a table of {}", *id, table.rows));
}

Done last_token(const Attributes& /*attributes*/, Operands operands, const Block& output,
                CudaLane& lane) {
  const std::span<const int64_t> shape = operands[0].shape;
  const Shape from = {shape[1] * shape[2], 1};
  const Shape to = {shape[2], 1};
  return Move{output.shape, from, to, static_cast<size_t>((shape[1] - 1) * shape[2])}.put(
      operands[0], output, lane);
}

}  // namespace tutti::cuda
