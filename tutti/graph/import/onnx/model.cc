#include "tutti/graph/import/onnx/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tutti/graph/limits.h"

#ifdef TUTTI_HAVE_ONNX
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <cstring>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "tutti/base/document.h"
#include "tutti/graph/import/onnx/infer.h"
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

// A small tensor of floats that lie in the file.
std::optional<std::vector<double> > reals_of(const onnx::TensorProto& tensor) {
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

OnnxType element_type(int data_type) {
  const Element element = element_of(data_type);
  return {.dtype = element.dtype, .element_bytes = element.bytes};
}

template <class Dims>
OnnxType type_with(int data_type, const Dims& dims) {
  OnnxType type = element_type(data_type);
  type.shaped = true;
  for (const int64_t dim : dims) {
    type.shaped = type.shaped && dim >= 0;
    type.dims.push_back(dim);
  }
  if (!type.shaped) type.dims.clear();
  return type;
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
    if (!is_utf8(graph.name())) return error("the graph's name is not UTF-8");
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

  // Takes the type over, unless a value of it would be absurdly large.
  Result<void> set_type(int32_t number, OnnxType type) {
    OnnxValue& value = model_.values[static_cast<size_t>(number)];
    if (type.dims.size() > kMostDimensions) {
      return error(fmt::format("value '{}' has more than {} dimensions", shown(value.name),
                               kMostDimensions));
    }
    // Also without its zeros, so that no part of a product can overflow.
    double product = std::max(type.element_bytes, 1);
    for (const int64_t dim : type.dims) product *= static_cast<double>(std::max(dim, int64_t{1}));
    if (product > static_cast<double>(kMostBytes)) {
      return error(fmt::format("value '{}' would have more than 2^60 bytes", shown(value.name)));
    }
    value.type = std::move(type);
    return {};
  }

  static OnnxType stated_type(const onnx::TypeProto& proto) {
    if (!proto.has_tensor_type()) return {};
    const auto& tensor = proto.tensor_type();
    const auto dims = tensor.has_shape() ? dims_of(tensor.shape()) : std::nullopt;
    return dims ? type_with(tensor.elem_type(), *dims) : element_type(tensor.elem_type());
  }

  Result<void> add_initializers(const onnx::GraphProto& graph) {
    for (const onnx::TensorProto& tensor : graph.initializer()) {
      const Result<void> added = add_initializer(tensor.name(), tensor.data_type(), tensor.dims());
      if (!added) return added;
      model_.values.back().numbers = numbers_of(tensor);
      model_.values.back().reals = reals_of(tensor);
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
    model_.values.back().constant = true;
    return set_type(*number, type_with(data_type, dims));
  }

  // Older files list initializers among the inputs too.
  Result<void> add_inputs(const onnx::GraphProto& graph) {
    for (const onnx::ValueInfoProto& input : graph.input()) {
      if (const auto found = number_of_.find(input.name()); found != number_of_.end()) {
        if (model_.values[static_cast<size_t>(found->second)].constant) continue;
      }
      const Result<int32_t> number = add_value(input.name());
      if (!number) return number.error();
      model_.inputs.push_back(*number);
      if (const Result<void> set = set_type(*number, stated_type(input.type())); !set) return set;
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
    take_attributes(proto, node);
    const bool constant = can_be_folded(proto, node);
    for (const std::string& name : proto.output()) {
      if (name.empty()) {
        node.makes.push_back(-1);
        continue;
      }
      const Result<int32_t> number = add_value(name);
      if (!number) return number.error();
      node.makes.push_back(*number);
    }
    const std::vector<OnnxType> types = infer_onnx_types(model_, node);
    for (size_t i = 0; i < types.size(); ++i) {
      if (node.makes[i] < 0) continue;
      if (const Result<void> set = settle_type(node.makes[i], types[i]); !set) return set;
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

  static void take_attributes(const onnx::NodeProto& proto, OnnxNode& node) {
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      const std::string& key = attribute.name();
      OnnxAttributes& into = node.attributes;
      if (attribute.has_i()) into.integers[key] = {attribute.i()};
      if (attribute.ints_size() > 0) {
        into.integers[key] = {attribute.ints().begin(), attribute.ints().end()};
      }
      if (attribute.floats_size() > 0) {
        into.reals[key] = {attribute.floats().begin(), attribute.floats().end()};
      }
      if (attribute.has_s()) into.texts[key] = attribute.s();
      if (attribute.has_i() && (key == "to" || key == "dtype")) {
        into.types[key] = element_type(static_cast<int>(std::clamp<int64_t>(attribute.i(), 0, 99)));
      }
      if (attribute.has_t()) {
        into.types[key] = type_with(attribute.t().data_type(), attribute.t().dims());
        if (auto numbers = numbers_of(attribute.t())) into.integers[key] = std::move(*numbers);
      }
      // What Constant may hold instead of a tensor.
      if (key == "value_int" || key == "value_float") {
        into.types["value"] =
            type_with(key == "value_int" ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT,
                      std::vector<int64_t>{});
      }
      if (key == "value_ints" || key == "value_floats") {
        into.types["value"] = type_with(
            key == "value_ints" ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT,
            std::vector<int64_t>{std::max(attribute.ints_size(), attribute.floats_size())});
      }
    }
  }

  Result<void> settle_type(int32_t number, const OnnxType& inferred) {
    const auto stated = stated_.find(model_.values[static_cast<size_t>(number)].name);
    if (inferred.known() || stated == stated_.end()) return set_type(number, inferred);
    const OnnxType type = stated_type(*stated->second);
    return set_type(number, type.known() ? type : inferred);
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
    value.numbers = std::move(numbers);
  }

  std::string file_;
  const ImportOptions& options_;
  onnx::ModelProto proto_;
  OnnxModel model_;
  std::unordered_map<std::string, int32_t> number_of_;
  std::unordered_set<std::string> node_names_;
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
