#include "tutti/graph/import/onnx/flops.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tutti/graph/limits.h"

namespace tutti {
namespace {

constexpr std::string_view kViews[] = {"Dropout", "Flatten", "Identity",
                                       "Reshape", "Squeeze", "Unsqueeze"};

constexpr std::string_view kMoves[] = {
    "Cast",
    "CastLike",
    "Compress",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "DepthToSpace",
    "Expand",
    "EyeLike",
    "Gather",
    "GatherElements",
    "GatherND",
    "NonZero",
    "OneHot",
    "Pad",
    "Range",
    "ReverseSequence",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Shape",
    "Size",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Tile",
    "Transpose",
    "Trilu",
    "Unique",
};

// One for each element that is made.
constexpr std::string_view kElementwise[] = {
    "Abs",         "Acos",
    "Acosh",       "And",
    "Asin",        "Asinh",
    "Atan",        "Atanh",
    "BitShift",    "Ceil",
    "Clip",        "Cos",
    "Cosh",        "CumSum",
    "Div",         "Elu",
    "Equal",       "Erf",
    "Exp",         "Floor",
    "Greater",     "GreaterOrEqual",
    "HardSigmoid", "IsInf",
    "IsNaN",       "LeakyRelu",
    "Less",        "LessOrEqual",
    "Log",         "Mod",
    "Mul",         "Neg",
    "Not",         "Or",
    "PRelu",       "Pow",
    "Reciprocal",  "Relu",
    "Round",       "Selu",
    "Sigmoid",     "Sign",
    "Sin",         "Sinh",
    "Softplus",    "Softsign",
    "Sqrt",        "Sub",
    "Add",         "Tan",
    "Tanh",        "ThresholdedRelu",
    "Where",       "Xor",
};

// One for each element that is read.
constexpr std::string_view kReductions[] = {
    "ArgMax",    "ArgMin",       "GlobalAveragePool", "GlobalMaxPool",   "ReduceL1",
    "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp",   "ReduceMax",       "ReduceMean",
    "ReduceMin", "ReduceProd",   "ReduceSum",         "ReduceSumSquare",
};

struct PerElement {
  std::string_view op_type;
  double flops;  // for each element of the first operand
};
constexpr PerElement kPerElement[] = {
    {"BatchNormalization", 4},  // less, times, times, plus: deviations are there already
    {"InstanceNormalization", 8},
    {"LayerNormalization", 8},
    {"MeanVarianceNormalization", 7},
    {"LpNormalization", 3},
    {"Softmax", 5},
    {"LogSoftmax", 5},
    {"Hardmax", 2},
    {"Celu", 4},
    {"Gelu", 4},
    {"HardSwish", 3},
    {"Mish", 4},
    {"QuantizeLinear", 2},
    {"DequantizeLinear", 2},
    {"DynamicQuantizeLinear", 4},
};

template <size_t N>
bool among(const std::string_view (&list)[N], std::string_view op_type) {
  return std::find(list, list + N, op_type) != list + N;
}

class Counter {
 public:
  Counter(const OnnxModel& model, const OnnxNode& node) : model_(model), node_(node) {}

  std::optional<double> count() const {
    const std::string_view type = node_.op_type;
    if (onnx_is_view(type) || among(kMoves, type)) return 0;
    if (among(kElementwise, type)) return made();
    if (among(kReductions, type)) return read(0);
    for (const PerElement& row : kPerElement) {
      if (row.op_type == type) return times(row.flops, read(0));
    }
    if (type == "Sum" || type == "Max" || type == "Min" || type == "Mean") {
      return times(std::max(1.0, static_cast<double>(node_.reads.size()) - 1), made());
    }
    if (type == "MatMul" || type == "MatMulInteger") return product(0);
    if (type == "QLinearMatMul") return product(0);
    if (type == "Gemm") return gemm();
    if (type == "Conv" || type == "ConvInteger") return convolution(1);
    if (type == "QLinearConv") return convolution(3);
    if (type == "ConvTranspose") return times(2, times_or_none(read(0), kernel(1)));
    if (type == "MaxPool" || type == "AveragePool" || type == "LpPool") return pool();
    if (type == "LRN") return lrn();
    if (type == "LSTM" || type == "GRU" || type == "RNN") return recurrent();
    if (type == "Einsum") return einsum();
    if (type == "Resize" || type == "Upsample") return times(4, made());
    if (type == "TopK") return sorted();
    return std::nullopt;
  }

 private:
  static std::optional<double> times(double factor, std::optional<double> count) {
    if (!count) return std::nullopt;
    return factor * *count;
  }
  static std::optional<double> times_or_none(std::optional<double> a, std::optional<double> b) {
    if (!a || !b) return std::nullopt;
    return *a * *b;
  }

  const OnnxType* type_of(const std::vector<int32_t>& list, size_t index) const {
    if (index >= list.size() || list[index] < 0) return nullptr;
    const OnnxType& type = model_.values[static_cast<size_t>(list[index])].type;
    return type.shaped ? &type : nullptr;
  }
  std::optional<double> elements(const std::vector<int32_t>& list, size_t index) const {
    const OnnxType* type = type_of(list, index);
    if (type == nullptr) return std::nullopt;
    return type->elements();
  }
  std::optional<double> made() const { return elements(node_.makes, 0); }
  std::optional<double> read(size_t index) const { return elements(node_.reads, index); }

  // Each output is a sum over the last dimension of the left operand.
  std::optional<double> product(size_t left) const {
    const OnnxType* type = type_of(node_.reads, left);
    if (type == nullptr || type->dims.empty()) return std::nullopt;
    return times(2 * static_cast<double>(type->dims.back()), made());
  }

  std::optional<double> gemm() const {
    const OnnxType* left = type_of(node_.reads, 0);
    if (left == nullptr || left->dims.size() != 2) return std::nullopt;
    const size_t summed = node_.attributes.integer("transA", 0) != 0 ? 0 : 1;
    const double added = type_of(node_.reads, 2) != nullptr ? 1 : 0;
    return times(2 * static_cast<double>(left->dims[summed]) + added, made());
  }

  // The kernel's elements for one output feature (or, transposed, for one input feature).
  std::optional<double> kernel(size_t index) const {
    const OnnxType* type = type_of(node_.reads, index);
    if (type == nullptr || type->dims.empty() || type->dims[0] <= 0) return std::nullopt;
    return type->elements() / static_cast<double>(type->dims[0]);
  }

  std::optional<double> convolution(size_t index) const {
    const std::optional<double> summed = kernel(index);
    if (!summed) return std::nullopt;
    const bool bias = node_.op_type == "Conv" && type_of(node_.reads, 2) != nullptr;
    return times(2 * *summed + (bias ? 1 : 0), made());
  }

  std::optional<double> pool() const {
    double window = 1;
    const auto sizes = node_.attributes.integers.find("kernel_shape");
    if (sizes != node_.attributes.integers.end()) {
      for (const int64_t size : sizes->second) window *= static_cast<double>(size);
    }
    return times(window, made());
  }

  // Squares, their sum over neighbouring channels, a factor, a power and a division.
  std::optional<double> lrn() const {
    return times(4 + static_cast<double>(node_.attributes.integer("size", 1)), made());
  }

  // Each step multiplies all of both matrices with the input and the state.
  std::optional<double> recurrent() const {
    const OnnxType* input = type_of(node_.reads, 0);
    const std::optional<double> weights = elements(node_.reads, 1);
    const std::optional<double> recurrences = elements(node_.reads, 2);
    if (input == nullptr || input->dims.size() != 3 || !weights || !recurrences) {
      return std::nullopt;
    }
    const double steps = static_cast<double>(input->dims[0]) * static_cast<double>(input->dims[1]);
    return 2 * steps * (*weights + *recurrences);
  }

  // A multiplication and an addition for each combination of all indices.
  std::optional<double> einsum() const {
    const auto equation = node_.attributes.texts.find("equation");
    if (equation == node_.attributes.texts.end()) return std::nullopt;
    std::map<char, double> sizes;
    size_t operand = 0;
    size_t axis = 0;
    for (const char c : equation->second) {
      if (c == ' ') continue;
      if (c == '.') return std::nullopt;
      if (c == '-') break;
      if (c == ',') {
        ++operand;
        axis = 0;
        continue;
      }
      const OnnxType* type = type_of(node_.reads, operand);
      if (type == nullptr || axis >= type->dims.size()) return std::nullopt;
      sizes[c] = static_cast<double>(type->dims[axis++]);
    }
    double all = node_.reads.size() > 1 ? 2 : 1;
    for (const auto& [label, size] : sizes) all *= size;
    return all;
  }

  std::optional<double> sorted() const {
    const std::optional<double> count = read(0);
    if (!count) return std::nullopt;
    return *count * std::log2(std::max(*count, 2.0));
  }

  const OnnxModel& model_;
  const OnnxNode& node_;
};

}  // namespace

std::optional<double> onnx_flops(const OnnxModel& model, const OnnxNode& node) {
  const std::optional<double> flops = Counter(model, node).count();
  if (!flops) return std::nullopt;
  return std::min(*flops, kMostFlops);
}

bool onnx_is_view(std::string_view op_type) {
  return among(kViews, op_type);
}

}  // namespace tutti
