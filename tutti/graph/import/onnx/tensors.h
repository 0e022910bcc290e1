// What libonnx's tensors and shapes say, as our own types. For model.cc and bodies.cc alone; needs
// libonnx.

#ifndef TUTTI_GRAPH_IMPORT_ONNX_TENSORS_H_
#define TUTTI_GRAPH_IMPORT_ONNX_TENSORS_H_

#include <onnx/onnx_pb.h>

#include <optional>
#include <vector>

#include "tutti/graph/import/onnx/model.h"

namespace tutti {

bool holds_whole_numbers(DType dtype);

// A small tensor of int64, int32 or truth values, which is what shapes and conditions are made of.
std::optional<std::vector<int64_t>> onnx_numbers_of(const onnx::TensorProto& tensor);

// A small tensor of floats that lie in the file.
std::optional<std::vector<double>> onnx_reals_of(const onnx::TensorProto& tensor);

// Without a shape.
OnnxType onnx_element_type(int data_type);

// The shape is not known if a dimension is negative.
template <class Dims>
OnnxType onnx_type_with(int data_type, const Dims& dims) {
  OnnxType type = onnx_element_type(data_type);
  type.shaped = true;
  for (const int64_t dim : dims) {
    type.shaped = type.shaped && dim >= 0;
    type.dims.push_back(dim);
  }
  if (!type.shaped) type.dims.clear();
  return type;
}

// As the file states it; without a shape if that is not known whole.
OnnxType onnx_stated_type(const onnx::TypeProto& proto);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ONNX_TENSORS_H_
