// Shapes of ops that rearrange numbers, or leave fewer of them.

#include <algorithm>
#include <cmath>

#include "tutti/graph/import/onnx/shapes.h"
#include "tutti/graph/limits.h"

namespace tutti {
namespace {

// Dimensions were held to 2^60 bytes in all when they were kept, so that doubles and sums of two
// sizes are safe; products are not.
double product_of(const OnnxDims& dims) {
  double product = 1;
  for (const int64_t size : dims) product *= static_cast<double>(size);
  return product;
}

// None for what is negative or absurd.
std::optional<int64_t> size_of(double size) {
  if (!(size >= 0) || size > static_cast<double>(kMostBytes)) return std::nullopt;
  return static_cast<int64_t>(size);
}

// Which axes of that rank are named; none if one of them does not exist.
std::optional<std::vector<bool>> marked(const OnnxDims& axes, size_t rank) {
  std::vector<bool> marks(rank, false);
  for (const int64_t number : axes) {
    const auto axis = onnx_axis(number, rank);
    if (!axis) return std::nullopt;
    marks[*axis] = true;
  }
  return marks;
}

}  // namespace

MaybeDims reshape_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  const OnnxDims* target = facts.either("shape", 1);
  if (input == nullptr || target == nullptr) return std::nullopt;
  OnnxDims output = *target;
  std::optional<size_t> open;
  for (size_t i = 0; i < output.size(); ++i) {
    if (output[i] == 0 && facts.integer("allowzero", 0) == 0) {
      if (i >= input->size()) return std::nullopt;
      output[i] = (*input)[i];
    }
    if (output[i] < -1 || (output[i] == -1 && open)) return std::nullopt;
    if (output[i] == -1) open = i;
  }
  if (!open) return output;
  output[*open] = 1;
  const double rest = product_of(output);
  if (rest <= 0) return std::nullopt;
  const auto size = size_of(product_of(*input) / rest);
  if (!size) return std::nullopt;
  output[*open] = *size;
  return output;
}

MaybeDims flatten_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  if (input == nullptr) return std::nullopt;
  const auto rank = static_cast<int64_t>(input->size());
  const int64_t axis = facts.integer("axis", 1);
  if (axis < -rank || axis > rank) return std::nullopt;
  const auto middle = input->begin() + (axis < 0 ? axis + rank : axis);
  const auto rows = size_of(product_of(OnnxDims(input->begin(), middle)));
  const auto columns = size_of(product_of(OnnxDims(middle, input->end())));
  if (!rows || !columns) return std::nullopt;
  return OnnxDims{*rows, *columns};
}

MaybeDims squeeze_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  if (input == nullptr) return std::nullopt;
  std::vector<bool> leaves_out(input->size());
  if (facts.stated("axes", 1)) {
    const OnnxDims* axes = facts.either("axes", 1);
    const auto marks = axes == nullptr ? std::nullopt : marked(*axes, input->size());
    if (!marks) return std::nullopt;
    leaves_out = *marks;
  } else {
    for (size_t i = 0; i < input->size(); ++i) leaves_out[i] = (*input)[i] == 1;
  }
  OnnxDims output;
  for (size_t i = 0; i < input->size(); ++i) {
    if (!leaves_out[i]) output.push_back((*input)[i]);
  }
  return output;
}

MaybeDims unsqueeze_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  const OnnxDims* axes = facts.either("axes", 1);
  if (input == nullptr || axes == nullptr) return std::nullopt;
  const auto marks = marked(*axes, input->size() + axes->size());
  if (!marks) return std::nullopt;
  OnnxDims output;
  size_t next = 0;
  for (const bool added : *marks) {
    if (!added && next == input->size()) return std::nullopt;  // an axis is named twice
    output.push_back(added ? 1 : (*input)[next++]);
  }
  return output;
}

MaybeDims transpose_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  if (input == nullptr) return std::nullopt;
  const OnnxDims* order = facts.attribute("perm");
  if (order == nullptr) return OnnxDims(input->rbegin(), input->rend());
  if (order->size() != input->size()) return std::nullopt;
  const auto marks = marked(*order, input->size());
  if (!marks || std::find(marks->begin(), marks->end(), false) != marks->end()) return std::nullopt;
  OnnxDims output;
  for (const int64_t axis : *order) output.push_back((*input)[*onnx_axis(axis, input->size())]);
  return output;
}

MaybeDims concat_dims(const OnnxFacts& facts) {
  const OnnxDims* first = facts.dims(0);
  if (first == nullptr) return std::nullopt;
  const auto axis = onnx_axis(facts.integer("axis", 1), first->size());
  if (!axis) return std::nullopt;
  OnnxDims output = *first;
  double sum = 0;
  for (size_t i = 0; i < facts.operands(); ++i) {
    const OnnxDims* part = facts.dims(i);
    if (part == nullptr || part->size() != first->size()) return std::nullopt;
    sum += static_cast<double>((*part)[*axis]);
  }
  const auto size = size_of(sum);
  if (!size) return std::nullopt;
  output[*axis] = *size;
  return output;
}

MaybeDims split_dims(const OnnxFacts& facts, size_t part) {
  const OnnxDims* input = facts.dims(0);
  if (input == nullptr) return std::nullopt;
  const auto axis = onnx_axis(facts.integer("axis", 0), input->size());
  if (!axis) return std::nullopt;
  OnnxDims output = *input;
  if (facts.stated("split", 1)) {
    const OnnxDims* parts = facts.either("split", 1);
    if (parts == nullptr || part >= parts->size() || (*parts)[part] < 0) return std::nullopt;
    output[*axis] = (*parts)[part];
    return output;
  }
  // Equal parts, the last one with what is left.
  const auto count = static_cast<int64_t>(facts.node().makes.size());
  const int64_t each = (output[*axis] + count - 1) / count;
  output[*axis] = std::clamp(output[*axis] - each * static_cast<int64_t>(part), int64_t{0}, each);
  return output;
}

MaybeDims slice_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  const OnnxDims* starts = facts.either("starts", 1);
  const OnnxDims* ends = facts.either("ends", 2);
  if (input == nullptr || starts == nullptr || ends == nullptr || starts->size() != ends->size()) {
    return std::nullopt;
  }
  const OnnxDims* axes = facts.either("axes", 3);
  const OnnxDims* steps = facts.either("steps", 4);
  if ((facts.stated("axes", 3) && (axes == nullptr || axes->size() != starts->size())) ||
      (facts.stated("steps", 4) && (steps == nullptr || steps->size() != starts->size()))) {
    return std::nullopt;
  }
  OnnxDims output = *input;
  for (size_t i = 0; i < starts->size(); ++i) {
    const auto axis =
        onnx_axis(axes == nullptr ? static_cast<int64_t>(i) : (*axes)[i], input->size());
    const int64_t step = steps == nullptr ? 1 : (*steps)[i];
    if (!axis || step == 0 || step < -kMostBytes || step > kMostBytes) return std::nullopt;
    const int64_t size = (*input)[*axis];
    // From the end if negative; then within what there is, which backwards begins one lower.
    const auto place = [&](int64_t at) {
      if (at < 0) at = at < -size ? -1 : at + size;
      return step > 0 ? std::clamp(at, int64_t{0}, size) : std::clamp(at, int64_t{-1}, size - 1);
    };
    const int64_t begin = place((*starts)[i]);
    const int64_t end = place((*ends)[i]);
    const int64_t length = step > 0 ? end - begin : begin - end;
    const int64_t stride = step > 0 ? step : -step;
    output[*axis] = length <= 0 ? 0 : (length - 1) / stride + 1;
  }
  return output;
}

MaybeDims gather_dims(const OnnxFacts& facts) {
  const OnnxDims* data = facts.dims(0);
  const OnnxDims* indices = facts.dims(1);
  if (data == nullptr || indices == nullptr) return std::nullopt;
  const auto axis = onnx_axis(facts.integer("axis", 0), data->size());
  if (!axis) return std::nullopt;
  const auto at = data->begin() + static_cast<int64_t>(*axis);
  OnnxDims output(data->begin(), at);
  output.insert(output.end(), indices->begin(), indices->end());
  output.insert(output.end(), at + 1, data->end());
  return output;
}

MaybeDims gather_nd_dims(const OnnxFacts& facts) {
  const OnnxDims* data = facts.dims(0);
  const OnnxDims* indices = facts.dims(1);
  if (data == nullptr || indices == nullptr || indices->empty()) return std::nullopt;
  const int64_t batches = facts.integer("batch_dims", 0);
  const int64_t depth = indices->back();
  const auto rank = static_cast<int64_t>(data->size());
  if (batches < 0 || batches > rank || depth < 0 || depth > rank - batches) return std::nullopt;
  OnnxDims output(indices->begin(), indices->end() - 1);
  output.insert(output.end(), data->begin() + batches + depth, data->end());
  return output;
}

MaybeDims expand_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  const OnnxDims* shape = facts.numbers(1);
  if (input == nullptr || shape == nullptr) return std::nullopt;
  if (std::any_of(shape->begin(), shape->end(), [](int64_t size) { return size < 0; })) {
    return std::nullopt;
  }
  return broadcast_dims(*input, *shape);
}

MaybeDims tile_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  const OnnxDims* repeats = facts.numbers(1);
  if (input == nullptr || repeats == nullptr || repeats->size() != input->size()) {
    return std::nullopt;
  }
  OnnxDims output;
  for (size_t i = 0; i < input->size(); ++i) {
    const auto size =
        size_of(static_cast<double>((*input)[i]) * static_cast<double>((*repeats)[i]));
    if (!size) return std::nullopt;
    output.push_back(*size);
  }
  return output;
}

MaybeDims pad_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  const OnnxDims* pads = facts.either("pads", 1);
  if (input == nullptr || pads == nullptr || facts.operand(3) != nullptr) return std::nullopt;
  if (pads->size() != 2 * input->size()) return std::nullopt;
  OnnxDims output;
  for (size_t i = 0; i < input->size(); ++i) {
    const auto size = size_of(static_cast<double>((*input)[i]) + static_cast<double>((*pads)[i]) +
                              static_cast<double>((*pads)[i + input->size()]));
    if (!size) return std::nullopt;
    output.push_back(*size);
  }
  return output;
}

// Sizes, or factors: the operand after the first up to opset 10, then the third.
MaybeDims resize_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  if (input == nullptr) return std::nullopt;
  if (const OnnxDims* sizes = facts.numbers(3); sizes != nullptr) {
    const bool good = sizes->size() == input->size() &&
                      std::none_of(sizes->begin(), sizes->end(), [](int64_t n) { return n < 0; });
    return good ? MaybeDims(*sizes) : std::nullopt;
  }
  const auto attribute = facts.node().attributes.reals.find("scales");
  const std::vector<double>* scales =
      attribute == facts.node().attributes.reals.end() ? nullptr : &attribute->second;
  for (const size_t index : {size_t{1}, size_t{2}}) {
    const OnnxValue* value = facts.operand(index);
    if (value != nullptr && value->reals && value->reals->size() == input->size()) {
      scales = &*value->reals;
    }
  }
  if (scales == nullptr || scales->size() != input->size()) return std::nullopt;
  OnnxDims output;
  for (size_t i = 0; i < input->size(); ++i) {
    const auto size = size_of(std::floor(static_cast<double>((*input)[i]) * (*scales)[i]));
    if (!size) return std::nullopt;
    output.push_back(*size);
  }
  return output;
}

MaybeDims one_hot_dims(const OnnxFacts& facts) {
  const OnnxDims* indices = facts.dims(0);
  const OnnxDims* depth = facts.numbers(1);
  if (indices == nullptr || depth == nullptr || depth->size() != 1 || (*depth)[0] < 0) {
    return std::nullopt;
  }
  const auto axis = onnx_axis(facts.integer("axis", -1), indices->size() + 1);
  if (!axis) return std::nullopt;
  OnnxDims output = *indices;
  output.insert(output.begin() + static_cast<int64_t>(*axis), (*depth)[0]);
  return output;
}

MaybeDims depth_to_space_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  const int64_t block = facts.integer("blocksize", 0);
  if (input == nullptr || input->size() != 4 || block < 1 || block > 1 << 15) return std::nullopt;
  const auto height = size_of(static_cast<double>((*input)[2]) * static_cast<double>(block));
  const auto width = size_of(static_cast<double>((*input)[3]) * static_cast<double>(block));
  if (!height || !width) return std::nullopt;
  return OnnxDims{(*input)[0], (*input)[1] / (block * block), *height, *width};
}

MaybeDims space_to_depth_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  const int64_t block = facts.integer("blocksize", 0);
  if (input == nullptr || input->size() != 4 || block < 1 || block > 1 << 15) return std::nullopt;
  const auto depth = size_of(static_cast<double>((*input)[1]) * static_cast<double>(block * block));
  if (!depth) return std::nullopt;
  return OnnxDims{(*input)[0], *depth, (*input)[2] / block, (*input)[3] / block};
}

MaybeDims reduce_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  if (input == nullptr) return std::nullopt;
  const OnnxDims* axes = facts.either("axes", 1);
  if (facts.stated("axes", 1) && axes == nullptr) return std::nullopt;
  const bool none = axes == nullptr || axes->empty();
  if (none && facts.integer("noop_with_empty_axes", 0) != 0) return *input;
  const auto marks = none ? std::vector<bool>(input->size(), true) : marked(*axes, input->size());
  if (!marks) return std::nullopt;
  OnnxDims output;
  for (size_t i = 0; i < input->size(); ++i) {
    if (!(*marks)[i]) {
      output.push_back((*input)[i]);
    } else if (facts.integer("keepdims", 1) != 0) {
      output.push_back(1);
    }
  }
  return output;
}

MaybeDims arg_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  if (input == nullptr) return std::nullopt;
  const auto axis = onnx_axis(facts.integer("axis", 0), input->size());
  if (!axis) return std::nullopt;
  OnnxDims output = *input;
  if (facts.integer("keepdims", 1) != 0) {
    output[*axis] = 1;
  } else {
    output.erase(output.begin() + static_cast<int64_t>(*axis));
  }
  return output;
}

MaybeDims top_k_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  const OnnxDims* count = facts.either("k", 1);
  if (input == nullptr || count == nullptr || count->size() != 1 || (*count)[0] < 0) {
    return std::nullopt;
  }
  const auto axis = onnx_axis(facts.integer("axis", -1), input->size());
  if (!axis) return std::nullopt;
  OnnxDims output = *input;
  output[*axis] = (*count)[0];
  return output;
}

}  // namespace tutti
