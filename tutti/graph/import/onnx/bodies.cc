// Nodes with bodies. A body's nodes become nodes of the model, as if they stood in its place:
//
// - If: those of the branch that is taken, if the condition is known, else of the one with more
//   flops.
// - Loop and Scan: those of the body once for each round, each round reading what the one before
//   hands on. Rounds are as --dim says by the node's name, else as the model says (a constant trip
//   count, the size that a Scan goes over), else one.
// - BeamSearch, GreedySearch and their kin of ONNX Runtime: an encoder once, the decoder once for
//   each round that --dim asks for, else once; between the rounds a node of the same op_type, which
//   makes the next inputs of what the decoder made.
//
// Others (SequenceMap, custom ops) stay one node, which reads what the body reads.

#ifdef TUTTI_HAVE_ONNX

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tutti/base/file/document.h"
#include "tutti/graph/import/onnx/flops.h"
#include "tutti/graph/import/onnx/reader.h"
#include "tutti/graph/import/onnx/tensors.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/limits.h"

namespace tutti {
namespace {

constexpr int64_t kMostRepeated = int64_t{1} << 17;  // nodes and values of rounds but the first
constexpr int64_t kMostTrips = int64_t{1} << 31;     // more stands for "until the condition says"

onnx::GraphProto* body_called(onnx::NodeProto& proto, const char* key) {
  for (onnx::AttributeProto& attribute : *proto.mutable_attribute()) {
    if (attribute.name() == key && attribute.has_g()) return attribute.mutable_g();
  }
  return nullptr;
}

int64_t integer_of(const onnx::NodeProto& proto, const char* key) {
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    if (attribute.name() == key && attribute.has_i()) return attribute.i();
  }
  return 0;
}

std::vector<int64_t> integers_of(const onnx::NodeProto& proto, const char* key) {
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    if (attribute.name() == key) return {attribute.ints().begin(), attribute.ints().end()};
  }
  return {};
}

bool is_search(const onnx::NodeProto& proto) {
  const std::string& type = proto.op_type();
  return type == "BeamSearch" || type == "GreedySearch" || type == "Sampling" ||
         type == "WhisperBeamSearch";
}

// What reading it once costs.
int64_t size_of(const onnx::GraphProto& body) {
  return int64_t{1} + body.node_size() + body.initializer_size() + body.input_size() +
         body.output_size() + body.value_info_size();
}

}  // namespace

bool OnnxReader::has_body(const onnx::NodeProto& proto) {
  return std::any_of(proto.attribute().begin(), proto.attribute().end(),
                     [](const onnx::AttributeProto& attribute) { return attribute.has_g(); });
}

Result<void> OnnxReader::add_node_with_body(onnx::NodeProto& proto, Scope& scope) {
  const bool own = proto.domain().empty() || proto.domain() == "ai.onnx";
  if (own && proto.op_type() == "If" && body_called(proto, "then_branch") != nullptr &&
      body_called(proto, "else_branch") != nullptr) {
    return add_if(proto, scope);
  }
  if (onnx::GraphProto* body = own ? body_called(proto, "body") : nullptr) {
    if (proto.op_type() == "Loop") return add_loop(proto, scope);
    // The form of opset 8 has one more operand, and batches.
    if (proto.op_type() == "Scan" && proto.input_size() == body->input_size()) {
      return add_scan(proto, scope);
    }
  }
  if (!own && is_search(proto) && body_called(proto, "decoder") != nullptr) {
    return add_search(proto, scope);
  }
  return add_plain_node(proto, scope);
}

// ---- What all of them need

OnnxReader::Scope OnnxReader::body_scope(const onnx::NodeProto& proto, const Scope& scope,
                                         int64_t round) const {
  Scope inside;
  inside.outer = &scope;
  inside.path = scope.path + own_name(proto) + "/";
  inside.prefix = scope.prefix + own_name(proto);
  inside.prefix += round < 0 ? "/" : fmt::format("[{}]/", round);
  inside.first_value = static_cast<int32_t>(model_.values.size());
  return inside;
}

Result<OnnxReader::Numbers> OnnxReader::run_body(const onnx::NodeProto& proto,
                                                 onnx::GraphProto& body, Scope& inside,
                                                 bool again) {
  const bool before = repeating_;
  repeating_ = repeating_ || again;
  if (repeating_) repeated_ += size_of(body);
  if (repeated_ > kMostRepeated) {
    return error(
        fmt::format("the rounds of '{}' would make more than {} nodes and values; give it "
                    "fewer with --dim {}=N",
                    shown(own_name(proto)), kMostRepeated,
                    shown(inside.path.substr(0, inside.path.size() - 1))));
  }
  if (const auto set = set_other_dimensions(body); !set) return set.error();
  if (const auto added = add_initializers(body, inside); !added) return added.error();
  if (const auto added = add_nodes(body, inside); !added) return added.error();
  Numbers made;
  for (const onnx::ValueInfoProto& output : body.output()) {
    const auto found = find(output.name(), inside);
    if (!found) {
      return error(fmt::format("the body of '{}' should make '{}', and nothing in it does",
                               shown(own_name(proto)), shown(output.name())));
    }
    made.push_back(*found);
  }
  repeating_ = before;
  return made;
}

Result<OnnxReader::Numbers> OnnxReader::operands_of(const onnx::NodeProto& proto,
                                                    const Scope& scope) const {
  OnnxNode node{.name = own_name(proto), .op_type = {}, .reads = {}, .makes = {}};
  onnx::NodeProto alone;  // without the bodies, which read for themselves
  *alone.mutable_input() = proto.input();
  if (const Result<void> read = read_operands(alone, node, scope); !read) return read.error();
  return std::move(node.reads);
}

Result<void> OnnxReader::bind_results(const onnx::NodeProto& proto, const Numbers& made,
                                      Scope& scope) {
  if (static_cast<size_t>(proto.output_size()) > made.size()) {
    return error(fmt::format("node '{}' has {} results, and its body makes {} of them",
                             shown(own_name(proto)), proto.output_size(), made.size()));
  }
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    const auto bound = bind(proto.output(i), made[static_cast<size_t>(i)], scope);
    if (!bound) return bound;
  }
  return {};
}

int64_t OnnxReader::rounds_of(const onnx::NodeProto& proto, const Scope& scope,
                              std::optional<int64_t> known) {
  const std::string name = scope.path + own_name(proto);
  known_.insert(name);
  if (const auto given = given_size(name)) return *given;
  if (known) return *known;
  if (!repeating_) model_.once.push_back(name);
  return 1;
}

std::optional<int64_t> OnnxReader::number_of(int32_t value) const {
  if (value < 0) return std::nullopt;
  const OnnxValue& read = model_.values[static_cast<size_t>(value)];
  if (!read.constant || !read.numbers || read.numbers->size() != 1) return std::nullopt;
  return (*read.numbers)[0];
}

int32_t OnnxReader::add_constant(const std::string& name, OnnxType type,
                                 std::optional<std::vector<int64_t>> numbers, const Scope& scope) {
  std::string full = scope.prefix + name;
  while (!value_names_.insert(full).second) full += '+';
  model_.values.push_back({.name = std::move(full),
                           .type = std::move(type),
                           .constant = true,
                           .numbers = std::move(numbers)});
  return static_cast<int32_t>(model_.values.size()) - 1;
}

Result<int32_t> OnnxReader::add_own_node(const std::string& op_type, const std::string& name,
                                         Numbers reads, OnnxType type, const Scope& scope) {
  const auto number = static_cast<int32_t>(model_.values.size());
  std::string full = scope.prefix + name;
  while (!value_names_.insert(full).second) full += '+';
  model_.values.push_back({.name = std::move(full)});
  if (const Result<void> set = set_type(number, std::move(type)); !set) return set.error();
  OnnxNode node{.name = name_for(scope.prefix + name),
                .op_type = op_type,
                .reads = std::move(reads),
                .makes = {number}};
  node.folded = std::all_of(node.reads.begin(), node.reads.end(), [&](int32_t read) {
    return model_.values[static_cast<size_t>(read)].constant;
  });
  model_.values.back().constant = node.folded;
  add_conditions(node, scope);
  model_.nodes.push_back(std::move(node));
  return number;
}

// One round's result is only seen under another shape.
Result<int32_t> OnnxReader::stack(const onnx::ValueInfoProto& output, const Numbers& rounds,
                                  size_t axis, const Scope& scope) {
  OnnxType type = rounds.empty() ? onnx_stated_type(output.type())
                                 : model_.values[static_cast<size_t>(rounds[0])].type;
  if (rounds.empty() && !type.known()) type = {.element_bytes = 1, .shaped = true};
  if (type.shaped) {
    axis = std::min(axis, type.dims.size());
    type.dims.insert(type.dims.begin() + static_cast<int64_t>(axis),
                     static_cast<int64_t>(rounds.size()));
  }
  const std::string name = output.name() + ".rounds";
  if (!rounds.empty()) {
    return add_own_node(rounds.size() == 1 ? "Unsqueeze" : "Concat", name, rounds, std::move(type),
                        scope);
  }
  const int32_t nothing = add_constant(name, {}, std::nullopt, scope);
  if (const Result<void> set = set_type(nothing, std::move(type)); !set) return set.error();
  return nothing;
}

// ---- If

Result<void> OnnxReader::add_if(onnx::NodeProto& proto, Scope& scope) {
  const Result<Numbers> operands = operands_of(proto, scope);
  if (!operands) return operands.error();
  if (operands->size() != 1 || (*operands)[0] < 0) {
    return error(fmt::format("node '{}' needs one condition", shown(own_name(proto))));
  }
  const std::optional<int64_t> known = number_of((*operands)[0]);
  struct Branch {
    Numbers made{};
    std::vector<OnnxNode> nodes{};
    double flops = 0;
    std::vector<std::string> once{};
    std::set<std::string> open{};
  };
  std::optional<Branch> taken;
  const size_t first = model_.nodes.size();
  const auto once = model_.once;
  const auto open = model_.open;
  for (const char* key : {"then_branch", "else_branch"}) {
    if (known && (*known != 0) != (key == std::string("then_branch"))) continue;
    Scope inside = body_scope(proto, scope, -1);
    inside.conditions = *operands;
    Result<Numbers> made = run_body(proto, *body_called(proto, key), inside, /*again=*/false);
    if (!made) return made.error();
    Branch branch{.made = std::move(*made), .once = model_.once, .open = model_.open};
    for (size_t i = first; i < model_.nodes.size(); ++i) {
      if (!model_.nodes[i].folded) branch.flops += onnx_flops(model_, model_.nodes[i]).value_or(0);
      node_names_.erase(model_.nodes[i].name);  // the other branch can have it too
      branch.nodes.push_back(std::move(model_.nodes[i]));
    }
    model_.nodes.resize(first);
    model_.once = once;
    model_.open = open;
    const auto rank = [](const Branch& one) { return std::pair(one.flops, one.nodes.size()); };
    if (!taken || rank(branch) > rank(*taken)) taken = std::move(branch);
  }
  for (OnnxNode& node : taken->nodes) {
    node_names_.insert(node.name);
    model_.nodes.push_back(std::move(node));
  }
  model_.once = std::move(taken->once);
  model_.open = std::move(taken->open);
  return bind_results(proto, taken->made, scope);
}

// ---- Loop: (trips, condition, state...) -> (state..., stacked...); its body: (round, condition,
// state...) -> (condition, state..., one of each stack)

Result<void> OnnxReader::add_loop(onnx::NodeProto& proto, Scope& scope) {
  onnx::GraphProto& body = *body_called(proto, "body");
  Result<Numbers> operands = operands_of(proto, scope);
  if (!operands) return operands.error();
  if (operands->size() < 2) operands->resize(2, -1);
  const size_t states = operands->size() - 2;
  if (static_cast<size_t>(body.input_size()) != operands->size() ||
      static_cast<size_t>(body.output_size()) < states + 1 ||
      std::count(operands->begin() + 2, operands->end(), -1) > 0) {
    return error(fmt::format("loop '{}' hands on {} values, and its body takes {} and makes {}",
                             shown(own_name(proto)), states, body.input_size(),
                             body.output_size()));
  }
  std::optional<int64_t> known = number_of((*operands)[0]);
  if (known && *known >= kMostTrips) known.reset();
  if (number_of((*operands)[1]) == 0) known = 0;
  const int64_t rounds = rounds_of(proto, scope, known);
  const OnnxType count{.dtype = DType::i64, .element_bytes = 8, .shaped = true};
  const OnnxType truth{.dtype = DType::boolean, .element_bytes = 1, .shaped = true};
  int32_t condition = (*operands)[1];
  Numbers state(operands->begin() + 2, operands->end());
  std::vector<Numbers> stacks(static_cast<size_t>(body.output_size()) - states - 1);
  for (int64_t round = 0; round < rounds; ++round) {
    Scope inside = body_scope(proto, scope, rounds == 1 ? -1 : round);
    for (const int32_t value : {round == 0 ? (*operands)[0] : -1, condition}) {
      if (value >= 0) inside.conditions.push_back(value);
    }
    if (condition < 0) condition = add_constant("condition", truth, {{1}}, inside);
    Numbers given{add_constant("round", count, {{round}}, inside), condition};
    given.insert(given.end(), state.begin(), state.end());
    for (size_t i = 0; i < given.size(); ++i) {
      const auto bound = bind(body.input(static_cast<int>(i)).name(), given[i], inside);
      if (!bound) return bound;
    }
    const Result<Numbers> made = run_body(proto, body, inside, /*again=*/round > 0);
    if (!made) return made.error();
    condition = (*made)[0];
    state.assign(made->begin() + 1, made->begin() + 1 + static_cast<int64_t>(states));
    for (size_t i = 0; i < stacks.size(); ++i) stacks[i].push_back((*made)[1 + states + i]);
    if (number_of(condition) == 0) break;
  }
  const Scope around = body_scope(proto, scope, -1);
  for (size_t i = 0; i < stacks.size(); ++i) {
    const Result<int32_t> stacked =
        stack(body.output(static_cast<int>(1 + states + i)), stacks[i], 0, around);
    if (!stacked) return stacked.error();
    state.push_back(*stacked);
  }
  return bind_results(proto, state, scope);
}

// ---- Scan: (state..., scanned...) -> (state..., stacked...); its body the same for one element

Result<void> OnnxReader::add_scan(onnx::NodeProto& proto, Scope& scope) {
  onnx::GraphProto& body = *body_called(proto, "body");
  const Result<Numbers> operands = operands_of(proto, scope);
  if (!operands) return operands.error();
  const int64_t scanned = integer_of(proto, "num_scan_inputs");
  const auto all = static_cast<int64_t>(operands->size());
  if (scanned < 1 || scanned > all || body.output_size() < all - scanned ||
      std::count(operands->begin(), operands->end(), -1) > 0) {
    return error(fmt::format("scan '{}' goes over {} of its {} operands, and its body makes {}",
                             shown(own_name(proto)), scanned, all, body.output_size()));
  }
  const auto states = static_cast<size_t>(all - scanned);
  const auto axis_of = [&](const char* key, size_t index, size_t rank) -> size_t {
    const std::vector<int64_t> axes = integers_of(proto, key);
    const int64_t axis = index < axes.size() ? axes[index] : 0;
    const auto count = static_cast<int64_t>(rank);
    return static_cast<size_t>(std::clamp<int64_t>(axis < 0 ? axis + count : axis, 0, count));
  };
  // The type of one element; the size of what is gone over, in the first.
  std::vector<OnnxType> elements;
  std::optional<int64_t> known;
  for (size_t i = states; i < operands->size(); ++i) {
    OnnxType type = model_.values[static_cast<size_t>((*operands)[i])].type;
    const size_t axis = axis_of("scan_input_axes", i - states, type.dims.size());
    if (type.shaped && axis < type.dims.size()) {
      if (i == states) known = type.dims[axis];
      type.dims.erase(type.dims.begin() + static_cast<int64_t>(axis));
    }
    elements.push_back(std::move(type));
  }
  const int64_t rounds = rounds_of(proto, scope, known);
  Numbers state(operands->begin(), operands->begin() + static_cast<int64_t>(states));
  std::vector<Numbers> stacks(static_cast<size_t>(body.output_size()) - states);
  for (int64_t round = 0; round < rounds; ++round) {
    Scope inside = body_scope(proto, scope, rounds == 1 ? -1 : round);
    for (size_t i = 0; i < operands->size(); ++i) {
      const std::string& name = body.input(static_cast<int>(i)).name();
      int32_t value = i < states ? state[i] : 0;
      if (i >= states) {  // a part of an array, which is not copied
        const Result<int32_t> element =
            add_own_node("Squeeze", name, {(*operands)[i]}, elements[i - states], inside);
        if (!element) return element.error();
        value = *element;
      }
      if (const auto bound = bind(name, value, inside); !bound) return bound;
    }
    const Result<Numbers> made = run_body(proto, body, inside, /*again=*/round > 0);
    if (!made) return made.error();
    state.assign(made->begin(), made->begin() + static_cast<int64_t>(states));
    for (size_t i = 0; i < stacks.size(); ++i) stacks[i].push_back((*made)[states + i]);
  }
  const Scope around = body_scope(proto, scope, -1);
  for (size_t i = 0; i < stacks.size(); ++i) {
    const onnx::ValueInfoProto& output = body.output(static_cast<int>(states + i));
    const Result<int32_t> stacked =
        stack(output, stacks[i], axis_of("scan_output_axes", i, kMostDimensions), around);
    if (!stacked) return stacked.error();
    state.push_back(*stacked);
  }
  return bind_results(proto, state, scope);
}

// ---- BeamSearch, GreedySearch, Sampling

// A node that makes the inputs of the body that runs next.
Result<OnnxReader::Numbers> OnnxReader::add_search_step(const onnx::NodeProto& proto,
                                                        const std::string& name, Numbers reads,
                                                        onnx::GraphProto& next, Scope& inside) {
  OnnxNode node{.name = name_for(inside.prefix + name),
                .op_type = proto.domain() + "." + proto.op_type(),
                .reads = std::move(reads),
                .makes = {}};
  for (onnx::ValueInfoProto& input : *next.mutable_input()) {
    std::set<std::string> missing;
    if (const auto set = set_dimensions(input, &missing); !set) return set.error();
    if (input.type().has_tensor_type() && input.type().tensor_type().has_shape()) {
      auto* shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
      for (auto& dim : *shape->mutable_dim()) {
        if (!dim.has_dim_value() || dim.dim_value() <= 0) dim.set_dim_value(1);
      }
    }
    model_.open.merge(missing);
    const Result<int32_t> number = add_value(input.name(), inside);
    if (!number) return number.error();
    if (const auto set = set_type(*number, onnx_stated_type(input.type())); !set) {
      return set.error();
    }
    node.makes.push_back(*number);
  }
  if (!is_utf8(node.name) || !is_utf8(node.op_type)) return error("a node's name is not UTF-8");
  add_conditions(node, *inside.outer);
  model_.nodes.push_back(std::move(node));
  return model_.nodes.back().makes;
}

Result<void> OnnxReader::add_search(onnx::NodeProto& proto, Scope& scope) {
  onnx::GraphProto* encoder = body_called(proto, "encoder");
  onnx::GraphProto* decoder = body_called(proto, "decoder");
  onnx::GraphProto* begin = body_called(proto, "init_decoder");
  Result<Numbers> latest = operands_of(proto, scope);
  if (!latest) return latest.error();
  const int64_t rounds = std::max(rounds_of(proto, scope, std::nullopt), int64_t{1});
  std::vector<onnx::GraphProto*> bodies;
  if (encoder != nullptr) bodies.push_back(encoder);
  bodies.push_back(begin != nullptr ? begin : decoder);
  const auto first_round = static_cast<int64_t>(bodies.size()) - 1;
  for (int64_t i = 0; i < first_round + rounds; ++i) {
    onnx::GraphProto& body = i <= first_round ? *bodies[static_cast<size_t>(i)] : *decoder;
    const bool is_encoder = i < first_round;
    Scope inside = body_scope(proto, scope, rounds == 1 || is_encoder ? -1 : i - first_round);
    if (is_encoder) inside.prefix += "encoder/";
    const Result<Numbers> given =
        add_search_step(proto, i == 0 ? "begin" : "step", *latest, body, inside);
    if (!given) return given.error();
    latest = run_body(proto, body, inside, /*again=*/i > first_round);
    if (!latest) return latest.error();
  }
  Result<OnnxNode> end = start_node(proto, scope);
  if (!end) return end.error();
  end->reads = std::move(*latest);
  if (const Result<void> made = add_results(proto, *end, scope); !made) return made;
  for (size_t i = 0; i < end->makes.size(); ++i) {
    if (end->makes[i] < 0) continue;
    const auto set = settle_type(end->makes[i], {}, proto.output(static_cast<int>(i)), scope);
    if (!set) return set;
  }
  add_conditions(*end, scope);
  model_.nodes.push_back(std::move(*end));
  return {};
}

}  // namespace tutti

#endif
