#ifdef TUTTI_HAVE_ONNX

#include "tutti/graph/import/onnx/tensors.h"

#include <cstring>

#include "tutti/graph/import/onnx/numbers.h"

namespace tutti {
namespace {

struct TensorElement {
  DType dtype;
  int bytes;
};

TensorElement tensor_element(int type) {
  using T = onnx::TensorProto;
  switch (type) {
    case T::FLOAT:
      return {DType::f32, 4};
    case T::DOUBLE:
      return {DType::f64, 8};
    case T::FLOAT16:
      return {DType::f16, 2};
    case T::BFLOAT16:
      return {DType::bf16, 2};
    case T::INT64:
      return {DType::i64, 8};
    case T::INT32:
      return {DType::i32, 4};
    case T::INT16:
      return {DType::i16, 2};
    case T::INT8:
      return {DType::i8, 1};
    case T::UINT8:
      return {DType::u8, 1};
    case T::BOOL:
      return {DType::boolean, 1};
    case T::UINT16:
      return {DType::unknown, 2};
    case T::UINT32:
      return {DType::unknown, 4};
    case T::UINT64:
    case T::COMPLEX64:
    case T::STRING:  // a reference to it
      return {DType::unknown, 8};
    case T::COMPLEX128:
      return {DType::unknown, 16};
    default:
      return {DType::unknown, 0};
  }
}

// The sizes of a shape, if they are all known.
std::optional<std::vector<int64_t>> dims_of(const onnx::TensorShapeProto& shape) {
  std::vector<int64_t> dims;
  for (const auto& dim : shape.dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 0) return std::nullopt;
    dims.push_back(dim.dim_value());
  }
  return dims;
}

}  // namespace

bool holds_whole_numbers(DType dtype) {
  return dtype == DType::i64 || dtype == DType::i32 || dtype == DType::i16 || dtype == DType::i8 ||
         dtype == DType::u8 || dtype == DType::boolean;
}

std::optional<std::vector<int64_t>> onnx_numbers_of(const onnx::TensorProto& tensor) {
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) return std::nullopt;
  const bool wide = tensor.data_type() == onnx::TensorProto::INT64;
  const bool truth = tensor.data_type() == onnx::TensorProto::BOOL;
  if (!wide && !truth && tensor.data_type() != onnx::TensorProto::INT32) return std::nullopt;
  std::vector<int64_t> numbers;
  if (tensor.has_raw_data()) {
    const std::string& raw = tensor.raw_data();
    const size_t size = wide ? 8 : truth ? 1 : 4;
    if (raw.size() / size > kMostNumbers) return std::nullopt;
    for (size_t at = 0; at + size <= raw.size(); at += size) {
      uint64_t bits = 0;  // little-endian by the format
      for (size_t i = 0; i < size; ++i) {
        bits |= static_cast<uint64_t>(static_cast<unsigned char>(raw[at + i])) << (8 * i);
      }
      numbers.push_back(wide ? static_cast<int64_t>(bits)
                             : static_cast<int64_t>(static_cast<int32_t>(bits)));
    }
  } else if (wide) {
    if (static_cast<size_t>(tensor.int64_data_size()) > kMostNumbers) return std::nullopt;
    numbers.assign(tensor.int64_data().begin(), tensor.int64_data().end());
  } else {
    if (static_cast<size_t>(tensor.int32_data_size()) > kMostNumbers) return std::nullopt;
    numbers.assign(tensor.int32_data().begin(), tensor.int32_data().end());
  }
  double elements = 1;
  for (const int64_t dim : tensor.dims()) elements *= static_cast<double>(dim);
  if (elements != static_cast<double>(numbers.size())) return std::nullopt;
  return numbers;
}

std::optional<std::vector<double>> onnx_reals_of(const onnx::TensorProto& tensor) {
  constexpr int kMostReals = 64;
  if (tensor.data_type() != onnx::TensorProto::FLOAT || tensor.float_data_size() > kMostReals ||
      tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    return std::nullopt;
  }
  std::vector<double> reals(tensor.float_data().begin(), tensor.float_data().end());
  const std::string& raw = tensor.raw_data();
  if (raw.size() > kMostReals * sizeof(float)) return std::nullopt;
  for (size_t at = 0; at + sizeof(float) <= raw.size(); at += sizeof(float)) {
    float number = 0;
    std::memcpy(&number, raw.data() + at, sizeof number);
    reals.push_back(number);
  }
  return reals;
}

OnnxType onnx_element_type(int data_type) {
  const TensorElement element = tensor_element(data_type);
  return {.dtype = element.dtype, .element_bytes = element.bytes};
}

OnnxType onnx_stated_type(const onnx::TypeProto& proto) {
  if (!proto.has_tensor_type()) return {};
  const auto& tensor = proto.tensor_type();
  const auto dims = tensor.has_shape() ? dims_of(tensor.shape()) : std::nullopt;
  return dims ? onnx_type_with(tensor.elem_type(), *dims) : onnx_element_type(tensor.elem_type());
}

}  // namespace tutti

#endif
