#include "tutti/graph/import/onnx/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tutti/graph/limits.h"

#ifdef TUTTI_HAVE_ONNX
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <limits>
#include <set>

#include "tutti/base/file/document.h"
#include "tutti/graph/import/onnx/infer.h"
#include "tutti/graph/import/onnx/numbers.h"
#include "tutti/graph/import/onnx/order.h"
#include "tutti/graph/import/onnx/reader.h"
#include "tutti/graph/import/onnx/tensors.h"
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

// Dimensions that people leave open without a thought: one of a kind is what they mean.
bool is_batch(const std::string& name) {
  return name == "batch" || name == "batch_size" || name == "N" || name == "n" || name == "bs" ||
         name == "None";
}

bool same_text(const google::protobuf::MessageLite& a, const google::protobuf::MessageLite& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

// Whether two Constant nodes hold the same.
bool hold_the_same(const onnx::NodeProto& a, const onnx::NodeProto& b) {
  if (a.op_type() != "Constant" || b.op_type() != "Constant") return false;
  if (a.attribute_size() != b.attribute_size() || a.output_size() != b.output_size()) return false;
  for (int i = 0; i < a.attribute_size(); ++i) {
    if (!same_text(a.attribute(i), b.attribute(i))) return false;
  }
  return true;
}

void take_attributes(const onnx::NodeProto& proto, OnnxNode& node) {
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
      into.types[key] =
          onnx_element_type(static_cast<int>(std::clamp<int64_t>(attribute.i(), 0, 99)));
    }
    if (attribute.has_t()) {
      into.types[key] = onnx_type_with(attribute.t().data_type(), attribute.t().dims());
      if (auto numbers = onnx_numbers_of(attribute.t())) into.integers[key] = std::move(*numbers);
    }
    // What Constant may hold instead of a tensor.
    if (key == "value_int" || key == "value_float") {
      into.types["value"] =
          onnx_type_with(key == "value_int" ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT,
                         std::vector<int64_t>{});
    }
    if (key == "value_ints" || key == "value_floats") {
      into.types["value"] = onnx_type_with(
          key == "value_ints" ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT,
          std::vector<int64_t>{std::max(attribute.ints_size(), attribute.floats_size())});
    }
  }
}

}  // namespace

OnnxReader::OnnxReader(std::string file, const ImportOptions& options)
    : file_(std::move(file)), options_(options) {}

Result<OnnxModel> OnnxReader::read(const std::string& bytes) {
  if (const Result<void> parsed = parse(bytes); !parsed) return parsed.error();
  onnx::GraphProto& graph = *proto_.mutable_graph();
  if (!is_utf8(graph.name())) return error("the graph's name is not UTF-8");
  model_.name = graph.name();
  Scope scope;
  if (const Result<void> set = set_dimensions(graph); !set) return set.error();
  if (const Result<void> added = add_initializers(graph, scope); !added) return added.error();
  if (const Result<void> added = add_inputs(graph, scope); !added) return added.error();
  if (const Result<void> added = add_nodes(graph, scope); !added) return added.error();
  if (const Result<void> meant = check_given_dimensions(); !meant) return meant.error();
  return std::move(model_);
}

Error OnnxReader::error(const std::string& sentence) const {
  return invalid_input(file_ + ": " + sentence);
}

Result<void> OnnxReader::parse(const std::string& bytes) {
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

Result<void> OnnxReader::set_dimensions(onnx::GraphProto& graph) {
  std::set<std::string> initialized;
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  std::set<std::string> missing;
  for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
    const bool must = !initialized.contains(input.name());
    if (const auto set = set_dimensions(input, must ? &missing : nullptr); !set) return set;
  }
  if (const auto set = set_other_dimensions(graph); !set) return set;
  if (missing.empty()) return {};
  std::string flags;
  for (const std::string& name : missing) flags += fmt::format(" --dim {}=128", name);
  return error(fmt::format("the size of dimension {} is open; give it with{}, or as you need it",
                           fmt::join(missing, ", "), flags));
}

Result<void> OnnxReader::set_other_dimensions(onnx::GraphProto& graph) {
  for (auto* list : {graph.mutable_value_info(), graph.mutable_output()}) {
    for (onnx::ValueInfoProto& value : *list) {
      if (const auto set = set_dimensions(value, nullptr); !set) return set;
    }
  }
  return {};
}

Result<void> OnnxReader::set_dimensions(onnx::ValueInfoProto& value,
                                        std::set<std::string>* missing) {
  if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return {};
  int axis = 0;
  for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    const std::string place = fmt::format("{}:{}", one_line(value.name()), axis++);
    if (dim.has_dim_value() && dim.dim_value() < -1) {
      return error(
          fmt::format("dimension {} of value '{}' is {}; only -1 can stand for one that is "
                      "open",
                      axis - 1, shown(value.name()), dim.dim_value()));
    }
    if (dim.has_dim_value() && dim.dim_value() > 0) continue;
    if (dim.has_dim_value() && missing == nullptr) continue;
    const std::string name = dim.dim_param().empty() ? place : one_line(dim.dim_param());
    known_.insert(name);
    if (const auto given = given_size(name)) {
      dim.set_dim_value(*given);
    } else if (is_batch(name) || (dim.dim_param().empty() && axis == 1)) {
      dim.set_dim_value(1);
    } else if (missing != nullptr) {
      missing->insert(name);
    }
  }
  return {};
}

std::optional<int64_t> OnnxReader::given_size(const std::string& name) const {
  for (const auto& [given, size] : options_.dims) {
    if (given == name) return size;
  }
  return std::nullopt;
}

Result<void> OnnxReader::check_given_dimensions() const {
  for (const auto& [name, size] : options_.dims) {
    if (known_.contains(name)) continue;
    if (known_.empty()) {
      return error(fmt::format("has no open dimensions; leave out --dim {}", name));
    }
    return error(fmt::format("has no dimension called '{}'; it has {}", shown(name),
                             fmt::join(known_, ", ")));
  }
  return {};
}

// ---- Values

std::optional<int32_t> OnnxReader::find(const std::string& name, const Scope& scope) {
  for (const Scope* at = &scope; at != nullptr; at = at->outer) {
    const auto found = at->numbers.find(name);
    if (found != at->numbers.end()) return found->second;
  }
  return std::nullopt;
}

Result<void> OnnxReader::bind(const std::string& name, int32_t number, Scope& scope) {
  if (!is_utf8(name)) return error("the name of a value is not UTF-8");
  if (scope.numbers.emplace(name, number).second) return {};
  return error(fmt::format("two nodes or inputs make the value '{}'", shown(name)));
}

Result<int32_t> OnnxReader::add_value(const std::string& name, Scope& scope) {
  const auto number = static_cast<int32_t>(model_.values.size());
  if (const Result<void> bound = bind(name, number, scope); !bound) return bound.error();
  std::string full = scope.prefix + name;
  while (!value_names_.insert(full).second) full += '+';
  model_.values.push_back({.name = std::move(full)});
  return number;
}

Result<void> OnnxReader::set_type(int32_t number, OnnxType type) {
  OnnxValue& value = model_.values[static_cast<size_t>(number)];
  if (type.dims.size() > kMostDimensions) {
    return error(
        fmt::format("value '{}' has more than {} dimensions", shown(value.name), kMostDimensions));
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

Result<void> OnnxReader::check_dims(const onnx::TensorProto& tensor) const {
  for (const int64_t dim : tensor.dims()) {
    if (dim < 0) {
      return error(fmt::format("tensor '{}' has a dimension of {}", shown(tensor.name()), dim));
    }
  }
  return {};
}

Result<void> OnnxReader::add_initializers(const onnx::GraphProto& graph, Scope& scope) {
  std::unordered_map<std::string, const onnx::TensorProto*> seen;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (const Result<void> good = check_dims(tensor); !good) return good;
    const auto [first, is_new] = seen.emplace(tensor.name(), &tensor);
    if (!is_new && same_text(*first->second, tensor)) continue;
    // A body that runs again reads the same weights.
    if (const auto known = made_by_.find(&tensor); known != made_by_.end()) {
      const Result<void> bound = bind(tensor.name(), known->second, scope);
      if (!bound) return bound;
      continue;
    }
    const Result<int32_t> number = add_value(tensor.name(), scope);
    if (!number) return number.error();
    made_by_[&tensor] = *number;
    OnnxValue& value = model_.values.back();
    value.constant = true;
    value.numbers = onnx_numbers_of(tensor);
    value.reals = onnx_reals_of(tensor);
    const Result<void> set = set_type(*number, onnx_type_with(tensor.data_type(), tensor.dims()));
    if (!set) return set;
  }
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    const Result<int32_t> number = add_value(tensor.values().name(), scope);
    if (!number) return number.error();
    model_.values.back().constant = true;
    const Result<void> set =
        set_type(*number, onnx_type_with(tensor.values().data_type(), tensor.dims()));
    if (!set) return set;
  }
  return {};
}

// Older files list initializers among the inputs too.
Result<void> OnnxReader::add_inputs(const onnx::GraphProto& graph, Scope& scope) {
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (const auto found = scope.numbers.find(input.name()); found != scope.numbers.end()) {
      if (model_.values[static_cast<size_t>(found->second)].constant) continue;
    }
    const Result<int32_t> number = add_value(input.name(), scope);
    if (!number) return number.error();
    model_.inputs.push_back(*number);
    const Result<void> set = set_type(*number, onnx_stated_type(input.type()));
    if (!set) return set;
  }
  return {};
}

// ---- Nodes

Result<void> OnnxReader::add_nodes(onnx::GraphProto& graph, Scope& scope) {
  // What the file itself says of values, for those whose type cannot be inferred.
  for (const auto* list : {&graph.value_info(), &graph.output()}) {
    for (const onnx::ValueInfoProto& value : *list) scope.stated[value.name()] = &value.type();
  }
  for (const int node : onnx_order(graph)) {
    const Result<void> added = add_node(*graph.mutable_node(node), scope);
    if (!added) return added;
  }
  return {};
}

Result<void> OnnxReader::add_node(onnx::NodeProto& proto, Scope& scope) {
  if (proto.op_type() == "Constant" && proto.output_size() == 1) {
    const auto [first, is_new] = scope.constants.emplace(proto.output(0), &proto);
    if (!is_new && hold_the_same(*first->second, proto)) return {};
    const auto known = made_by_.find(&proto);
    if (known != made_by_.end()) return bind(proto.output(0), known->second, scope);
  }
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    if (!attribute.has_t()) continue;
    if (const Result<void> good = check_dims(attribute.t()); !good) return good;
  }
  if (has_body(proto)) return add_node_with_body(proto, scope);
  return add_plain_node(proto, scope);
}

Result<void> OnnxReader::add_plain_node(const onnx::NodeProto& proto, Scope& scope) {
  Result<OnnxNode> started = start_node(proto, scope);
  if (!started) return started.error();
  OnnxNode& node = *started;
  if (const Result<void> read = read_operands(proto, node, scope); !read) return read;
  take_attributes(proto, node);
  const bool constant = can_be_folded(proto, node);
  if (const Result<void> made = add_results(proto, node, scope); !made) return made;
  const std::vector<OnnxType> types = infer_onnx_types(model_, node);
  for (size_t i = 0; i < types.size(); ++i) {
    if (node.makes[i] < 0) continue;
    const std::string& name = proto.output(static_cast<int>(i));
    if (const Result<void> set = settle_type(node.makes[i], types[i], name, scope); !set)
      return set;
  }
  if (constant) fold(node);
  if (node.op_type == "Constant" && node.makes.size() == 1) made_by_[&proto] = node.makes[0];
  add_conditions(node, scope);
  model_.nodes.push_back(std::move(node));
  return {};
}

Result<OnnxNode> OnnxReader::start_node(const onnx::NodeProto& proto, const Scope& scope) {
  OnnxNode node;
  node.name = name_for(scope.prefix + own_name(proto));
  node.op_type = proto.domain().empty() || proto.domain() == "ai.onnx"
                     ? proto.op_type()
                     : proto.domain() + "." + proto.op_type();
  if (!is_utf8(node.name) || !is_utf8(node.op_type)) return error("a node's name is not UTF-8");
  if (node.op_type.empty()) node.op_type = "op";
  return node;
}

Result<void> OnnxReader::add_results(const onnx::NodeProto& proto, OnnxNode& node, Scope& scope) {
  for (const std::string& name : proto.output()) {
    if (name.empty()) {
      node.makes.push_back(-1);
      continue;
    }
    const Result<int32_t> number = add_value(name, scope);
    if (!number) return number.error();
    node.makes.push_back(*number);
  }
  return {};
}

std::string OnnxReader::own_name(const onnx::NodeProto& proto) {
  std::string name = proto.name();
  for (int i = 0; name.empty() && i < proto.output_size(); ++i) name = proto.output(i);
  if (name.empty()) name = proto.op_type().empty() ? "op" : proto.op_type();
  return name;
}

std::string OnnxReader::name_for(std::string name) {
  if (node_names_.insert(name).second) return name;
  name = fmt::format("{}#{}", name, model_.nodes.size());
  while (!node_names_.insert(name).second) name += '+';
  return name;
}

Result<void> OnnxReader::read_operands(const onnx::NodeProto& proto, OnnxNode& node,
                                       const Scope& scope) const {
  for (const std::string& name : proto.input()) {
    if (name.empty()) {
      node.reads.push_back(-1);
      continue;
    }
    const auto found = find(name, scope);
    if (!found) {
      return error(fmt::format("node '{}' reads '{}', which nothing makes that can run before it",
                               shown(node.name), shown(name)));
    }
    node.reads.push_back(*found);
  }
  const std::set<int32_t> direct(node.reads.begin(), node.reads.end());
  for (const std::string& name : onnx_names_read(proto)) {
    const auto found = find(name, scope);
    if (found && !direct.contains(*found)) node.reads.push_back(*found);  // by a body
  }
  return {};
}

// A node of a body cannot start before the body is entered. If it reads what another node of the
// body makes, it comes behind that one anyway.
void OnnxReader::add_conditions(OnnxNode& node, const Scope& scope) const {
  const auto waits_inside = [&](const std::vector<int32_t>& values, int32_t first) {
    return std::any_of(values.begin(), values.end(), [&](int32_t value) {
      return value >= first && !model_.values[static_cast<size_t>(value)].constant;
    });
  };
  if (node.folded) return;
  for (const Scope* at = &scope; at->outer != nullptr; at = at->outer) {
    if (waits_inside(node.reads, at->first_value)) continue;
    if (waits_inside(node.follows, at->first_value)) continue;
    for (const int32_t value : at->conditions) {
      if (!model_.values[static_cast<size_t>(value)].constant) node.follows.push_back(value);
    }
  }
}

Result<void> OnnxReader::settle_type(int32_t number, const OnnxType& inferred,
                                     const std::string& name, const Scope& scope) {
  const auto stated = scope.stated.find(name);
  if (inferred.known() || stated == scope.stated.end()) return set_type(number, inferred);
  const OnnxType type = onnx_stated_type(*stated->second);
  return set_type(number, type.known() ? type : inferred);
}

bool OnnxReader::can_be_folded(const onnx::NodeProto& proto, const OnnxNode& node) const {
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

void OnnxReader::fold(OnnxNode& node) {
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

Result<OnnxModel> read_onnx_model(Source& source, const ImportOptions& options) {
  const Result<std::string> bytes = source.read_all();
  if (!bytes) return bytes.error();
  try {
    return OnnxReader(source.name(), options).read(*bytes);
  } catch (const std::exception& error) {  // libonnx and protobuf speak by exceptions
    return invalid_input(
        fmt::format("{}: libonnx cannot read it: {}", source.name(), error.what()));
  }
}

#endif

}  // namespace tutti
