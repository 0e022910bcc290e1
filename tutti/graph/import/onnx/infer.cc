#include "tutti/graph/import/onnx/infer.h"

#include <algorithm>

#include "tutti/graph/import/onnx/numbers.h"
#include "tutti/graph/import/onnx/shapes.h"

namespace tutti {
namespace {

// Most op types: one result of the first operand's element type.
struct Rule {
  std::string_view op_type;
  MaybeDims (*dims)(const OnnxFacts& facts);
};

MaybeDims same_dims(const OnnxFacts& facts) {
  const OnnxDims* dims = facts.dims(0);
  return dims == nullptr ? std::nullopt : MaybeDims(*dims);
}

MaybeDims indices_dims(const OnnxFacts& facts) {
  const OnnxDims* dims = facts.dims(1);
  return dims == nullptr ? std::nullopt : MaybeDims(*dims);
}

constexpr Rule kRules[] = {
    {"Abs", same_dims},
    {"Acos", same_dims},
    {"Acosh", same_dims},
    {"Add", broadcast_dims},
    {"And", broadcast_dims},
    {"ArgMax", arg_dims},
    {"ArgMin", arg_dims},
    {"Asin", same_dims},
    {"Asinh", same_dims},
    {"Atan", same_dims},
    {"Atanh", same_dims},
    {"AveragePool", pool_dims},
    {"BatchNormalization", same_dims},
    {"BitShift", broadcast_dims},
    {"Cast", same_dims},
    {"CastLike", same_dims},
    {"Ceil", same_dims},
    {"Celu", same_dims},
    {"Clip", same_dims},
    {"Concat", concat_dims},
    {"ConvTranspose", transposed_convolution_dims},
    {"Cos", same_dims},
    {"Cosh", same_dims},
    {"CumSum", same_dims},
    {"DepthToSpace", depth_to_space_dims},
    {"DequantizeLinear", same_dims},
    {"Div", broadcast_dims},
    {"Dropout", same_dims},
    {"DynamicQuantizeLinear", same_dims},
    {"Einsum", einsum_dims},
    {"Elu", same_dims},
    {"Equal", broadcast_dims},
    {"Erf", same_dims},
    {"Exp", same_dims},
    {"Expand", expand_dims},
    {"EyeLike", same_dims},
    {"Flatten", flatten_dims},
    {"Floor", same_dims},
    {"Gather", gather_dims},
    {"GatherElements", indices_dims},
    {"GatherND", gather_nd_dims},
    {"Gelu", same_dims},
    {"Gemm", gemm_dims},
    {"GlobalAveragePool", global_pool_dims},
    {"GlobalLpPool", global_pool_dims},
    {"GlobalMaxPool", global_pool_dims},
    {"Greater", broadcast_dims},
    {"GreaterOrEqual", broadcast_dims},
    {"HardSigmoid", same_dims},
    {"HardSwish", same_dims},
    {"Hardmax", same_dims},
    {"Identity", same_dims},
    {"InstanceNormalization", same_dims},
    {"IsInf", same_dims},
    {"IsNaN", same_dims},
    {"LRN", same_dims},
    {"LayerNormalization", same_dims},
    {"LeakyRelu", same_dims},
    {"Less", broadcast_dims},
    {"LessOrEqual", broadcast_dims},
    {"Log", same_dims},
    {"LogSoftmax", same_dims},
    {"LpNormalization", same_dims},
    {"LpPool", pool_dims},
    {"Max", broadcast_dims},
    {"MaxPool", pool_dims},
    {"Mean", broadcast_dims},
    {"MeanVarianceNormalization", same_dims},
    {"Min", broadcast_dims},
    {"Mish", same_dims},
    {"Mod", broadcast_dims},
    {"Mul", broadcast_dims},
    {"Neg", same_dims},
    {"Not", same_dims},
    {"OneHot", one_hot_dims},
    {"Or", broadcast_dims},
    {"PRelu", same_dims},
    {"Pad", pad_dims},
    {"Pow", broadcast_dims},
    {"QuantizeLinear", same_dims},
    {"Reciprocal", same_dims},
    {"ReduceL1", reduce_dims},
    {"ReduceL2", reduce_dims},
    {"ReduceLogSum", reduce_dims},
    {"ReduceLogSumExp", reduce_dims},
    {"ReduceMax", reduce_dims},
    {"ReduceMean", reduce_dims},
    {"ReduceMin", reduce_dims},
    {"ReduceProd", reduce_dims},
    {"ReduceSum", reduce_dims},
    {"ReduceSumSquare", reduce_dims},
    {"Relu", same_dims},
    {"Reshape", reshape_dims},
    {"Resize", resize_dims},
    {"ReverseSequence", same_dims},
    {"Round", same_dims},
    {"Scatter", same_dims},
    {"ScatterElements", same_dims},
    {"ScatterND", same_dims},
    {"Selu", same_dims},
    {"Sigmoid", same_dims},
    {"Sign", same_dims},
    {"Sin", same_dims},
    {"Sinh", same_dims},
    {"Slice", slice_dims},
    {"Softmax", same_dims},
    {"Softplus", same_dims},
    {"Softsign", same_dims},
    {"SpaceToDepth", space_to_depth_dims},
    {"Sqrt", same_dims},
    {"Squeeze", squeeze_dims},
    {"Sub", broadcast_dims},
    {"Sum", broadcast_dims},
    {"Tan", same_dims},
    {"Tanh", same_dims},
    {"ThresholdedRelu", same_dims},
    {"Tile", tile_dims},
    {"TopK", top_k_dims},
    {"Transpose", transpose_dims},
    {"Trilu", same_dims},
    {"Unsqueeze", unsqueeze_dims},
    {"Upsample", resize_dims},
    {"Where", broadcast_dims},
    {"Xor", broadcast_dims},
};

OnnxType elements(DType dtype) {
  return {.dtype = dtype, .element_bytes = element_bytes(dtype)};
}

OnnxType shaped(OnnxType type, MaybeDims dims) {
  type.shaped = dims.has_value();
  if (dims) type.dims = std::move(*dims);
  return type;
}

class Inference {
 public:
  Inference(const OnnxModel& model, const OnnxNode& node) : facts_(model, node) {}

  std::vector<OnnxType> infer() const {
    std::vector<OnnxType> types(facts_.node().makes.size());
    if (types.empty()) return types;
    const std::string& op = facts_.node().op_type;
    if (op == "LSTM" || op == "GRU" || op == "RNN") {
      infer_recurrent(types);
    } else if (op == "Split") {
      for (size_t i = 0; i < types.size(); ++i) {
        types[i] = shaped(element_of(0), split_dims(facts_, i));
      }
    } else {
      types[0] = first(op);
      infer_others(op, types);
    }
    return types;
  }

 private:
  // The element type of an operand.
  OnnxType element_of(size_t index) const {
    const OnnxValue* value = facts_.operand(index);
    if (value == nullptr) return {};
    return {.dtype = value->type.dtype, .element_bytes = value->type.element_bytes};
  }

  OnnxType first(const std::string& op) const {
    if (op == "Constant" || op == "ConstantOfShape") return constant(op);
    if (op == "Shape") return shape();
    if (op == "Size") return shaped(elements(DType::i64), OnnxDims{});
    if (op == "Range") return range();
    if (op == "MatMul") return shaped(element_of(0), matmul_dims(facts_, 1));
    if (op == "MatMulInteger") return shaped(elements(DType::i32), matmul_dims(facts_, 1));
    if (op == "QLinearMatMul") return shaped(element_of(7), matmul_dims(facts_, 3));
    if (op == "Conv") return shaped(element_of(0), convolution_dims(facts_, 1));
    if (op == "ConvInteger") return shaped(elements(DType::i32), convolution_dims(facts_, 1));
    if (op == "QLinearConv") return shaped(element_of(7), convolution_dims(facts_, 3));
    for (const Rule& rule : kRules) {
      if (rule.op_type == op) return shaped(element_made(op), rule.dims(facts_));
    }
    return {};
  }

  OnnxType element_made(const std::string& op) const {
    constexpr std::string_view kTruths[] = {"And",   "Equal", "Greater", "GreaterOrEqual",
                                            "IsInf", "IsNaN", "Less",    "LessOrEqual",
                                            "Not",   "Or",    "Xor"};
    if (std::find(std::begin(kTruths), std::end(kTruths), op) != std::end(kTruths)) {
      return elements(DType::boolean);
    }
    if (op == "ArgMax" || op == "ArgMin") return elements(DType::i64);
    if (op == "Cast" || op == "EyeLike") {
      const auto to = facts_.node().attributes.types.find(op == "Cast" ? "to" : "dtype");
      if (to != facts_.node().attributes.types.end()) return to->second;
      return op == "Cast" ? OnnxType{} : element_of(0);
    }
    if (op == "CastLike" || op == "DequantizeLinear" || op == "Where") return element_of(1);
    if (op == "OneHot") return element_of(2);
    if (op == "DynamicQuantizeLinear") return elements(DType::u8);
    if (op == "QuantizeLinear") {
      return facts_.operand(2) != nullptr ? element_of(2) : elements(DType::u8);
    }
    return element_of(0);
  }

  // Without a value, a tensor of given shape is of zeros.
  OnnxType constant(const std::string& op) const {
    const auto value = facts_.node().attributes.types.find("value");
    const bool stated = value != facts_.node().attributes.types.end();
    if (op == "Constant") return stated ? value->second : OnnxType{};
    OnnxType type = stated ? value->second : elements(DType::f32);
    type.shaped = false;
    const OnnxDims* dims = facts_.numbers(0);
    if (dims == nullptr || std::any_of(dims->begin(), dims->end(), [](int64_t n) { return n < 0; }))
      return type;
    return shaped(type, *dims);
  }

  OnnxType shape() const {
    const auto dims = onnx_shape_of(facts_);
    if (!dims) return elements(DType::i64);
    return shaped(elements(DType::i64), OnnxDims{static_cast<int64_t>(dims->size())});
  }

  OnnxType range() const {
    const auto numbers = onnx_range_of(facts_);
    if (!numbers) return element_of(0);
    return shaped(element_of(0), OnnxDims{static_cast<int64_t>(numbers->size())});
  }

  // Steps, directions, batch and hidden size, as X and R say them.
  void infer_recurrent(std::vector<OnnxType>& types) const {
    const OnnxDims* input = facts_.dims(0);
    const OnnxDims* recurrence = facts_.dims(2);
    if (input == nullptr || recurrence == nullptr) return;
    if (input->size() != 3 || recurrence->size() != 3 || facts_.integer("layout", 0) != 0) return;
    const int64_t directions = (*recurrence)[0];
    const int64_t hidden = (*recurrence)[2];
    types[0] = shaped(element_of(0), OnnxDims{(*input)[0], directions, (*input)[1], hidden});
    for (size_t i = 1; i < types.size(); ++i) {
      types[i] = shaped(element_of(0), OnnxDims{directions, (*input)[1], hidden});
    }
  }

  void infer_others(const std::string& op, std::vector<OnnxType>& types) const {
    for (size_t i = 1; i < types.size(); ++i) {
      if (op == "Dropout" || op == "MaxPool" || op == "TopK") {  // masks and indices
        types[i] = elements(op == "Dropout" ? DType::boolean : DType::i64);
        types[i].shaped = types[0].shaped;
        types[i].dims = types[0].dims;
      } else if (op == "DynamicQuantizeLinear") {
        types[i] = shaped(elements(i == 1 ? DType::f32 : DType::u8), OnnxDims{});
      } else if (op == "BatchNormalization") {
        const OnnxDims* channels = facts_.dims(1);
        if (channels != nullptr) types[i] = shaped(element_of(1), *channels);
      }
    }
  }

  OnnxFacts facts_;
};

}  // namespace

std::vector<OnnxType> infer_onnx_types(const OnnxModel& model, const OnnxNode& node) {
  return Inference(model, node).infer();
}

}  // namespace tutti
