#include "tutti/graph/import/onnx/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tutti/graph/limits.h"

#ifdef TUTTI_HAVE_ONNX
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <deque>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "tutti/base/document.h"
#include "tutti/graph/import/onnx/numbers.h"
#include "tutti/graph/import/onnx/order.h"
#include "tutti/graph/import/text.h"
#endif

namespace tutti {

double OnnxType::elements() const {
  double count = 1;
  for (const int64_t size : dims) count *= static_cast<double>(size);
  return count;
}

int64_t OnnxType::bytes() const {
  return static_cast<int64_t>(elements() * element_bytes);
}

int64_t OnnxAttributes::integer(const std::string& key, int64_t fallback) const {
  const auto found = integers.find(key);
  return found == integers.end() || found->second.empty() ? fallback : found->second[0];
}

#ifndef TUTTI_HAVE_ONNX

Result<OnnxModel> read_onnx_model(Source& source, const ImportOptions& /*options*/) {
  return invalid_input(source.name() +
                       ": is an ONNX model, and this tutti was built without libonnx; install "
                       "libonnx-dev and build it again");
}

#else

namespace {

struct Element {
  DType dtype;
  int bytes;
};

Element element_of(int type) {
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

bool holds_whole_numbers(DType dtype) {
  return dtype == DType::i64 || dtype == DType::i32 || dtype == DType::i16 || dtype == DType::i8 ||
         dtype == DType::u8 || dtype == DType::boolean;
}

// Dimensions that people leave open without a thought: one of a kind is what they mean.
bool is_batch(const std::string& name) {
  return name == "batch" || name == "batch_size" || name == "N" || name == "n" || name == "bs" ||
         name == "None";
}

// A small tensor of int64 or int32, which is what shapes are made of.
std::optional<std::vector<int64_t> > numbers_of(const onnx::TensorProto& tensor) {
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) return std::nullopt;
  const bool wide = tensor.data_type() == onnx::TensorProto::INT64;
  if (!wide && tensor.data_type() != onnx::TensorProto::INT32) return std::nullopt;
  std::vector<int64_t> numbers;
  if (tensor.has_raw_data()) {
    const std::string& raw = tensor.raw_data();
    const size_t size = wide ? 8 : 4;
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

// The sizes of a shape, if they are all known.
std::optional<std::vector<int64_t> > dims_of(const onnx::TensorShapeProto& shape) {
  std::vector<int64_t> dims;
  for (const auto& dim : shape.dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 0) return std::nullopt;
    dims.push_back(dim.dim_value());
  }
  return dims;
}

class ModelReader {
 public:
  ModelReader(std::string file, const ImportOptions& options)
      : file_(std::move(file)), options_(options) {}

  Result<OnnxModel> read(const std::string& bytes) {
    if (const Result<void> parsed = parse(bytes); !parsed) return parsed.error();
    onnx::GraphProto& graph = *proto_.mutable_graph();
    model_.name = graph.name();
    if (const Result<void> set = set_dimensions(graph); !set) return set.error();
    if (const Result<void> added = add_initializers(graph); !added) return added.error();
    if (const Result<void> added = add_inputs(graph); !added) return added.error();
    keep_stated_types(graph);
    for (const int node : onnx_order(graph)) {
      const Result<void> added = add_node(*graph.mutable_node(node));
      if (!added) return added.error();
    }
    return std::move(model_);
  }

 private:
  Error error(const std::string& sentence) const { return invalid_input(file_ + ": " + sentence); }

  Result<void> parse(const std::string& bytes) {
    if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
      return error("is larger than 2 GiB, the most that an ONNX file can be; keep weights outside");
    }
    google::protobuf::LogSilencer silence;  // it would print what we say in a sentence
    google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    google::protobuf::io::CodedInputStream coded(&stream);
    if (!proto_.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
      return error("begins like an ONNX model but is damaged, or nested too deep");
    }
    if (!proto_.has_graph()) return error("is an ONNX model without a graph");
    return {};
  }

  // ---- Dimensions

  Result<void> set_dimensions(onnx::GraphProto& graph) {
    std::set<std::string> initialized;
    for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
    std::set<std::string> known;
    std::set<std::string> missing;
    for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
      set_dimensions(input, known, initialized.contains(input.name()) ? nullptr : &missing);
    }
    for (auto* list : {graph.mutable_value_info(), graph.mutable_output()}) {
      for (onnx::ValueInfoProto& value : *list) set_dimensions(value, known, nullptr);
    }
    for (const auto& [name, size] : options_.dims) {
      if (known.contains(name)) continue;
      if (known.empty())
        return error(fmt::format("has no open dimensions; leave out --dim {}", name));
      return error(fmt::format("has no dimension called '{}'; it has {}", shown(name),
                               fmt::join(known, ", ")));
    }
    if (missing.empty()) return {};
    std::string flags;
    for (const std::string& name : missing) flags += fmt::format(" --dim {}=128", name);
    return error(fmt::format("the size of dimension {} is open; give it with{}, or as you need it",
                             fmt::join(missing, ", "), flags));
  }

  // Fills in the sizes that are given, and 1 for batches. The others go to `missing`, if there is
  // such a list.
  void set_dimensions(onnx::ValueInfoProto& value, std::set<std::string>& known,
                      std::set<std::string>* missing) const {
    if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return;
    int axis = 0;
    for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      const std::string place = fmt::format("{}:{}", one_line(value.name()), axis++);
      if (dim.has_dim_value() && dim.dim_value() > 0) continue;
      if (dim.has_dim_value() && missing == nullptr) continue;
      const std::string name = dim.dim_param().empty() ? place : one_line(dim.dim_param());
      known.insert(name);
      const auto given = std::find_if(options_.dims.begin(), options_.dims.end(),
                                      [&](const auto& entry) { return entry.first == name; });
      if (given != options_.dims.end()) {
        dim.set_dim_value(given->second);
      } else if (is_batch(name) || (dim.dim_param().empty() && axis == 1)) {
        dim.set_dim_value(1);
      } else if (missing != nullptr) {
        missing->insert(name);
      }
    }
  }

  // ---- Values

  Result<int32_t> add_value(const std::string& name) {
    if (!is_utf8(name)) return error("the name of a value is not UTF-8");
    const auto number = static_cast<int32_t>(model_.values.size());
    if (!number_of_.emplace(name, number).second) {
      return error(fmt::format("two nodes or inputs make the value '{}'", shown(name)));
    }
    model_.values.push_back({.name = name});
    return number;
  }

  // Takes the type over if a value of it is not absurdly large.
  Result<void> set_type(int32_t number, const onnx::TypeProto& proto) {
    if (!proto.has_tensor_type()) return {};
    OnnxValue& value = model_.values[static_cast<size_t>(number)];
    const auto& tensor = proto.tensor_type();
    const Element element = element_of(tensor.elem_type());
    value.type = {.dtype = element.dtype, .element_bytes = element.bytes};
    const auto dims = tensor.has_shape() ? dims_of(tensor.shape()) : std::nullopt;
    if (dims) {
      value.type.shaped = true;
      value.type.dims = *dims;
      if (dims->size() > kMostDimensions) {
        return error(fmt::format("value '{}' has more than {} dimensions", shown(value.name),
                                 kMostDimensions));
      }
      // Also without its zeros, so that no part of a product can overflow.
      double product = std::max(element.bytes, 1);
      for (const int64_t dim : *dims) product *= static_cast<double>(std::max(dim, int64_t{1}));
      if (product > static_cast<double>(kMostBytes)) {
        return error(fmt::format("value '{}' would have more than 2^60 bytes", shown(value.name)));
      }
    }
    types_.push_back(proto);
    type_of_[value.name] = &types_.back();
    return {};
  }

  Result<void> add_initializers(const onnx::GraphProto& graph) {
    for (const onnx::TensorProto& tensor : graph.initializer()) {
      const Result<void> added = add_initializer(tensor.name(), tensor.data_type(), tensor.dims());
      if (!added) return added;
      data_of_[tensor.name()] = &tensor;
      model_.values.back().numbers = numbers_of(tensor);
    }
    for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
      const Result<void> added =
          add_initializer(tensor.values().name(), tensor.values().data_type(), tensor.dims());
      if (!added) return added;
    }
    return {};
  }

  template <class Dims>
  Result<void> add_initializer(const std::string& name, int data_type, const Dims& dims) {
    const Result<int32_t> number = add_value(name);
    if (!number) return number.error();
    onnx::TypeProto type;
    type.mutable_tensor_type()->set_elem_type(data_type);
    auto* shape = type.mutable_tensor_type()->mutable_shape();
    for (const int64_t dim : dims) shape->add_dim()->set_dim_value(dim);
    model_.values.back().constant = true;
    return set_type(*number, type);
  }

  // Older files list initializers among the inputs too.
  Result<void> add_inputs(const onnx::GraphProto& graph) {
    for (const onnx::ValueInfoProto& input : graph.input()) {
      if (data_of_.contains(input.name())) continue;
      const Result<int32_t> number = add_value(input.name());
      if (!number) return number.error();
      model_.inputs.push_back(*number);
      if (const Result<void> set = set_type(*number, input.type()); !set) return set;
    }
    return {};
  }

  // What the file itself says of values, for those whose type cannot be inferred.
  void keep_stated_types(const onnx::GraphProto& graph) {
    for (const auto* list : {&graph.value_info(), &graph.output()}) {
      for (const onnx::ValueInfoProto& value : *list) stated_[value.name()] = &value.type();
    }
  }

  // ---- Nodes

  Result<void> add_node(onnx::NodeProto& proto) {
    OnnxNode node;
    node.name = name_for(proto);
    node.op_type = proto.domain().empty() || proto.domain() == "ai.onnx"
                       ? proto.op_type()
                       : proto.domain() + "." + proto.op_type();
    if (!is_utf8(node.name) || !is_utf8(node.op_type)) return error("a node's name is not UTF-8");
    if (node.op_type.empty()) node.op_type = "op";
    if (const Result<void> read = read_operands(proto, node); !read) return read;
    if (const Result<void> taken = take_attributes(proto, node); !taken) return taken;
    const std::vector<onnx::TypeProto> types = infer(proto);
    bool constant = can_be_folded(proto, node);
    for (int i = 0; i < proto.output_size(); ++i) {
      if (proto.output(i).empty()) {
        node.makes.push_back(-1);
        continue;
      }
      const Result<int32_t> number = add_value(proto.output(i));
      if (!number) return number.error();
      node.makes.push_back(*number);
      if (const Result<void> set = settle_type(*number, types[static_cast<size_t>(i)]); !set) {
        return set;
      }
    }
    if (constant) fold(node);
    model_.nodes.push_back(std::move(node));
    return {};
  }

  // No two alike: its own, or that of the first value it makes.
  std::string name_for(const onnx::NodeProto& proto) {
    std::string name = proto.name();
    for (int i = 0; name.empty() && i < proto.output_size(); ++i) name = proto.output(i);
    if (name.empty()) name = proto.op_type().empty() ? "op" : proto.op_type();
    if (node_names_.insert(name).second) return name;
    const std::string numbered = fmt::format("{}#{}", name, model_.nodes.size());
    name = numbered;
    while (!node_names_.insert(name).second) name += '+';
    return name;
  }

  Result<void> read_operands(const onnx::NodeProto& proto, OnnxNode& node) {
    for (const std::string& name : proto.input()) {
      if (name.empty()) {
        node.reads.push_back(-1);
        continue;
      }
      const auto found = number_of_.find(name);
      if (found == number_of_.end()) {
        return error(fmt::format("node '{}' reads '{}', which nothing makes that can run before it",
                                 shown(node.name), shown(name)));
      }
      node.reads.push_back(found->second);
    }
    const std::set<int32_t> direct(node.reads.begin(), node.reads.end());
    for (const std::string& name : onnx_names_read(proto)) {
      const auto found = number_of_.find(name);
      if (found != number_of_.end() && !direct.contains(found->second)) {
        node.reads.push_back(found->second);  // by the body of a loop or branch
      }
    }
    return {};
  }

  Result<void> take_attributes(const onnx::NodeProto& proto, OnnxNode& node) const {
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      std::vector<int64_t>& integers = node.attributes.integers[attribute.name()];
      if (attribute.has_i()) integers.push_back(attribute.i());
      integers.insert(integers.end(), attribute.ints().begin(), attribute.ints().end());
      if (attribute.has_t()) {
        if (auto numbers = numbers_of(attribute.t())) integers = std::move(*numbers);
      }
      if (attribute.has_s()) node.attributes.texts[attribute.name()] = attribute.s();
      // Inference divides by these without a look.
      static constexpr std::string_view kPositive[] = {"blocksize", "dilations", "group",
                                                       "kernel_shape", "strides"};
      if (std::find(std::begin(kPositive), std::end(kPositive), attribute.name()) ==
          std::end(kPositive)) {
        continue;
      }
      for (const int64_t number : integers) {
        if (number >= 1 && number <= std::numeric_limits<int32_t>::max()) continue;
        return error(fmt::format("node '{}': {} must be whole numbers from 1 to 2^31 - 1, not {}",
                                 shown(node.name), attribute.name(), number));
      }
    }
    return {};
  }

  // The types of what the node makes, as libonnx infers them; empty ones where it cannot.
  std::vector<onnx::TypeProto> infer(onnx::NodeProto& proto) {
    std::vector<onnx::TypeProto> types(static_cast<size_t>(proto.output_size()));
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(
        proto.op_type(), opset(proto.domain()), proto.domain() == "ai.onnx" ? "" : proto.domain());
    if (schema == nullptr) return types;
    // Inference is written for as many operands and results as the schema has.
    if (proto.input_size() < schema->min_input() || proto.input_size() > schema->max_input() ||
        proto.output_size() > schema->max_output()) {
      return types;
    }
    const auto& inference = schema->GetTypeAndShapeInferenceFunction();
    if (!inference) return types;
    try {
      onnx::shape_inference::InferenceContextImpl context(proto, type_of_, data_of_, {});
      inference(context);
      types = std::move(context.allOutputTypes_);
    } catch (const std::exception&) {
      types.assign(types.size(), {});  // it says that the model is wrong, or leaves it open
    }
    return types;
  }

  int opset(const std::string& domain) const {
    for (const auto& entry : proto_.opset_import()) {
      const bool own = entry.domain().empty() || entry.domain() == "ai.onnx";
      if (entry.domain() != domain && !(own && (domain.empty() || domain == "ai.onnx"))) continue;
      return static_cast<int>(std::clamp<int64_t>(entry.version(), 1, 1000));
    }
    return 1;
  }

  Result<void> settle_type(int32_t number, const onnx::TypeProto& inferred) {
    if (const Result<void> set = set_type(number, inferred); !set) return set;
    const OnnxValue& value = model_.values[static_cast<size_t>(number)];
    const auto stated = stated_.find(value.name);
    if (value.type.known() || stated == stated_.end()) return {};
    return set_type(number, *stated->second);
  }

  bool can_be_folded(const onnx::NodeProto& proto, const OnnxNode& node) const {
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      if (attribute.has_g() || attribute.graphs_size() > 0) return false;
    }
    const std::string& type = node.op_type;
    if (type.starts_with("Random") || type == "Multinomial" || type == "Bernoulli") return false;
    if (type == "Constant") return true;
    if (type == "Shape" || type == "Size") {
      return !node.reads.empty() && node.reads[0] >= 0 &&
             model_.values[static_cast<size_t>(node.reads[0])].type.shaped;
    }
    return !node.reads.empty() &&
           std::all_of(node.reads.begin(), node.reads.end(), [&](int32_t read) {
             return read < 0 || model_.values[static_cast<size_t>(read)].constant;
           });
  }

  void fold(OnnxNode& node) {
    node.folded = true;
    for (const int32_t made : node.makes) {
      if (made >= 0) model_.values[static_cast<size_t>(made)].constant = true;
    }
    if (node.makes.empty() || node.makes[0] < 0) return;
    OnnxValue& value = model_.values[static_cast<size_t>(node.makes[0])];
    if (!value.type.known() || !holds_whole_numbers(value.type.dtype)) return;
    auto numbers = onnx_numbers(model_, node);
    if (!numbers || numbers->size() > kMostNumbers ||
        static_cast<double>(numbers->size()) != value.type.elements()) {
      return;
    }
    hand_to_inference(value, *numbers);
    value.numbers = std::move(numbers);
  }

  // So that a later Reshape finds its shape.
  void hand_to_inference(const OnnxValue& value, const std::vector<int64_t>& numbers) {
    const bool wide = value.type.dtype == DType::i64;
    if (!wide && value.type.dtype != DType::i32) return;
    onnx::TensorProto tensor;
    tensor.set_data_type(wide ? onnx::TensorProto::INT64 : onnx::TensorProto::INT32);
    for (const int64_t dim : value.type.dims) tensor.add_dims(dim);
    for (const int64_t number : numbers) {
      wide ? tensor.add_int64_data(number) : tensor.add_int32_data(static_cast<int32_t>(number));
    }
    tensors_.push_back(std::move(tensor));
    data_of_[value.name] = &tensors_.back();
  }

  std::string file_;
  const ImportOptions& options_;
  onnx::ModelProto proto_;
  OnnxModel model_;
  std::unordered_map<std::string, int32_t> number_of_;
  std::unordered_set<std::string> node_names_;
  // For inference, by the name of the value. The deques keep what was made here.
  std::deque<onnx::TypeProto> types_;
  std::deque<onnx::TensorProto> tensors_;
  std::unordered_map<std::string, onnx::TypeProto*> type_of_;
  std::unordered_map<std::string, const onnx::TensorProto*> data_of_;
  std::unordered_map<std::string, const onnx::TypeProto*> stated_;
};

}  // namespace

Result<OnnxModel> read_onnx_model(Source& source, const ImportOptions& options) {
  const Result<std::string> bytes = source.read_all();
  if (!bytes) return bytes.error();
  try {
    return ModelReader(source.name(), options).read(*bytes);
  } catch (const std::exception& error) {  // libonnx and protobuf speak by exceptions
    return invalid_input(
        fmt::format("{}: libonnx cannot read it: {}", source.name(), error.what()));
  }
}

#endif

}  // namespace tutti
