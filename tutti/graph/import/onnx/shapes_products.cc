// Shapes of products, convolutions and their kin, and of element-wise ops.

#include <algorithm>
#include <map>

#include "tutti/graph/import/onnx/shapes.h"

namespace tutti {
namespace {

constexpr int64_t kMostSteps = int64_t{1} << 31;  // of strides, pads and the like

// What one spatial dimension of a window has.
struct Window {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t begin = 0;  // padding
  int64_t end = 0;
  int64_t extent() const { return (size - 1) * dilation + 1; }
};

// One for each spatial dimension; none if attributes do not fit.
std::optional<std::vector<Window>> windows_of(const OnnxFacts& facts, const OnnxDims& sizes) {
  const size_t count = sizes.size();
  std::vector<Window> windows(count);
  const auto take = [&](const char* key, size_t offset, size_t all, int64_t Window::*into) {
    const OnnxDims* given = facts.attribute(key);
    if (given == nullptr) return true;
    if (given->size() != all) return false;
    for (size_t i = 0; i < count; ++i) {
      const int64_t number = (*given)[offset + i];
      if (number <= -kMostSteps || number >= kMostSteps) return false;
      windows[i].*into = number;
    }
    return true;
  };
  if (!take("strides", 0, count, &Window::stride) ||
      !take("dilations", 0, count, &Window::dilation) ||
      !take("pads", 0, 2 * count, &Window::begin) ||
      !take("pads", count, 2 * count, &Window::end)) {
    return std::nullopt;
  }
  for (size_t i = 0; i < count; ++i) {
    windows[i].size = sizes[i];
    if (sizes[i] < 1 || sizes[i] >= kMostSteps || windows[i].stride < 1 ||
        windows[i].dilation < 1) {
      return std::nullopt;
    }
  }
  return windows;
}

// Appends the spatial sizes that windows leave of `input`, whose first two are batch and channels.
bool slide(const OnnxFacts& facts, const OnnxDims& input, const std::vector<Window>& windows,
           OnnxDims& output) {
  const std::string automatic = facts.text("auto_pad");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  const bool up = facts.integer("ceil_mode", 0) != 0;
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    if (same) {
      output.push_back((input[i + 2] + window.stride - 1) / window.stride);
      continue;
    }
    const int64_t pads = automatic == "VALID" ? 0 : window.begin + window.end;
    const int64_t room = input[i + 2] + pads - window.extent();
    if (room < 0) return false;
    output.push_back((room + (up ? window.stride - 1 : 0)) / window.stride + 1);
  }
  return true;
}

}  // namespace

MaybeDims broadcast_dims(const OnnxDims& a, const OnnxDims& b) {
  const OnnxDims& longer = a.size() >= b.size() ? a : b;
  const OnnxDims& shorter = a.size() >= b.size() ? b : a;
  OnnxDims all = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = all[offset + i];
    if (size == shorter[i] || shorter[i] == 1) continue;
    if (size != 1) return std::nullopt;
    size = shorter[i];
  }
  return all;
}

MaybeDims broadcast_dims(const OnnxFacts& facts) {
  MaybeDims all;
  for (size_t i = 0; i < facts.operands(); ++i) {
    if (facts.operand(i) == nullptr) continue;
    const OnnxDims* dims = facts.dims(i);
    if (dims == nullptr) return std::nullopt;
    all = all ? broadcast_dims(*all, *dims) : *dims;
    if (!all) return std::nullopt;
  }
  return all;
}

MaybeDims matmul_dims(const OnnxFacts& facts, size_t right) {
  const OnnxDims* a = facts.dims(0);
  const OnnxDims* b = facts.dims(right);
  if (a == nullptr || b == nullptr || a->empty() || b->empty()) return std::nullopt;
  // A vector is a row on the left and a column on the right, and leaves no dimension.
  OnnxDims left = *a;
  OnnxDims other = *b;
  if (a->size() == 1) left.insert(left.begin(), 1);
  if (b->size() == 1) other.push_back(1);
  if (left.back() != other[other.size() - 2]) return std::nullopt;
  MaybeDims all = broadcast_dims(OnnxDims(left.begin(), left.end() - 2),
                                 OnnxDims(other.begin(), other.end() - 2));
  if (!all) return std::nullopt;
  if (a->size() > 1) all->push_back(left[left.size() - 2]);
  if (b->size() > 1) all->push_back(other.back());
  return all;
}

MaybeDims gemm_dims(const OnnxFacts& facts) {
  const OnnxDims* a = facts.dims(0);
  const OnnxDims* b = facts.dims(1);
  if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2) return std::nullopt;
  return OnnxDims{(*a)[facts.integer("transA", 0) != 0 ? 1 : 0],
                  (*b)[facts.integer("transB", 0) != 0 ? 0 : 1]};
}

MaybeDims convolution_dims(const OnnxFacts& facts, size_t right) {
  const OnnxDims* input = facts.dims(0);
  const OnnxDims* kernel = facts.dims(right);
  if (input == nullptr || kernel == nullptr || input->size() < 2) return std::nullopt;
  if (kernel->size() != input->size()) return std::nullopt;
  const auto windows = windows_of(facts, OnnxDims(kernel->begin() + 2, kernel->end()));
  if (!windows) return std::nullopt;
  OnnxDims output = {(*input)[0], (*kernel)[0]};
  if (!slide(facts, *input, *windows, output)) return std::nullopt;
  return output;
}

MaybeDims transposed_convolution_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  const OnnxDims* kernel = facts.dims(1);
  if (input == nullptr || kernel == nullptr || input->size() < 2) return std::nullopt;
  if (kernel->size() != input->size()) return std::nullopt;
  const auto windows = windows_of(facts, OnnxDims(kernel->begin() + 2, kernel->end()));
  const int64_t group = facts.integer("group", 1);
  if (!windows || group < 1 || group >= kMostSteps || (*kernel)[1] >= kMostSteps) {
    return std::nullopt;
  }
  const OnnxDims* wanted = facts.attribute("output_shape");
  const OnnxDims* extra = facts.attribute("output_padding");
  const std::string automatic = facts.text("auto_pad");
  OnnxDims output = {(*input)[0], (*kernel)[1] * group};
  for (size_t i = 0; i < windows->size(); ++i) {
    const Window& window = (*windows)[i];
    const int64_t size = (*input)[i + 2];
    if (size < 1 || size >= kMostSteps) return std::nullopt;
    int64_t made = (size - 1) * window.stride + window.extent() - window.begin - window.end;
    if (automatic.starts_with("SAME")) made = size * window.stride;
    if (extra != nullptr && i < extra->size() && (*extra)[i] >= 0 && (*extra)[i] < kMostSteps) {
      made += (*extra)[i];
    }
    if (wanted != nullptr && wanted->size() >= windows->size()) {
      made = (*wanted)[wanted->size() - windows->size() + i];
    }
    if (made < 0) return std::nullopt;
    output.push_back(made);
  }
  return output;
}

MaybeDims pool_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  const OnnxDims* sizes = facts.attribute("kernel_shape");
  if (input == nullptr || sizes == nullptr || input->size() != sizes->size() + 2) {
    return std::nullopt;
  }
  const auto windows = windows_of(facts, *sizes);
  if (!windows) return std::nullopt;
  OnnxDims output(input->begin(), input->begin() + 2);
  if (!slide(facts, *input, *windows, output)) return std::nullopt;
  return output;
}

MaybeDims global_pool_dims(const OnnxFacts& facts) {
  const OnnxDims* input = facts.dims(0);
  if (input == nullptr || input->size() < 2) return std::nullopt;
  OnnxDims output = *input;
  std::fill(output.begin() + 2, output.end(), 1);
  return output;
}

MaybeDims einsum_dims(const OnnxFacts& facts) {
  std::string equation = facts.text("equation");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const size_t arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find('.') != std::string::npos) return std::nullopt;
  std::map<char, int64_t> sizes;
  size_t operand = 0;
  size_t axis = 0;
  for (const char label : equation.substr(0, arrow)) {
    if (label == ',') {
      ++operand;
      axis = 0;
      continue;
    }
    const OnnxDims* dims = facts.dims(operand);
    if (dims == nullptr || axis >= dims->size()) return std::nullopt;
    sizes[label] = (*dims)[axis++];
  }
  OnnxDims output;
  for (const char label : equation.substr(arrow + 2)) {
    const auto found = sizes.find(label);
    if (found == sizes.end()) return std::nullopt;
    output.push_back(found->second);
  }
  return output;
}

}  // namespace tutti
